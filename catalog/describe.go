package catalog

import (
	"slices"
	"strings"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/types"

	"lakesql/delta"
	"lakesql/sqlext"
)

// lookup opens the table of a statement.
func (c *Catalog) lookup(ctx *sql.Context, n sqlext.Name) (*table, error) {
	name := n.Database
	if name == "" {
		name = ctx.GetCurrentDatabase()
	}
	if serverMade(name) {
		return nil, refuse(KindInvalid, "%s.%s is no table of the lake: the server makes it, and SELECT reads it", name, n.Name)
	}
	db, err := provider{c}.Database(ctx, name)
	if err != nil {
		return nil, err
	}
	t, ok, err := db.GetTableInsensitive(ctx, n.Name)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, sql.ErrTableNotFound.New(n.Name)
	}
	return t.(*table), nil
}

// serverMade tells whether the tables of a database are none of the lake.
func serverMade(database string) bool {
	return builtInDatabase(database) && !strings.EqualFold(database, pathDatabaseName)
}

// historySchema has Spark's columns of DESCRIBE HISTORY.
var historySchema = sql.Schema{
	{Name: "version", Type: types.Int64}, {Name: "timestamp", Type: types.DatetimeMaxPrecision}, {Name: "userId", Type: textType, Nullable: true},
	{Name: "userName", Type: textType, Nullable: true}, {Name: "operation", Type: textType, Nullable: true},
	{Name: "operationParameters", Type: textType, Nullable: true}, {Name: "job", Type: textType, Nullable: true},
	{Name: "notebook", Type: textType, Nullable: true}, {Name: "clusterId", Type: textType, Nullable: true}, {Name: "readVersion", Type: types.Int64, Nullable: true},
	{Name: "isolationLevel", Type: textType, Nullable: true}, {Name: "isBlindAppend", Type: types.Boolean, Nullable: true},
	{Name: "operationMetrics", Type: textType, Nullable: true}, {Name: "userMetadata", Type: textType, Nullable: true},
	{Name: "engineInfo", Type: textType, Nullable: true},
}

func (c *Catalog) describeHistory(s *sqlext.DescribeHistory) action {
	return query("DESCRIBE HISTORY", historySchema, func(ctx *sql.Context) ([]sql.Row, error) {
		t, err := c.lookup(ctx, s.Table)
		if err != nil {
			return nil, err
		}
		limit, err := limitOf(s.Limit)
		if err != nil {
			return nil, err
		}
		entries, err := t.handle.History(ctx, limit)
		if err != nil {
			return nil, err
		}
		rows := make([]sql.Row, len(entries))
		for i, e := range entries {
			var blind any
			if e.IsBlindAppend != nil {
				blind = boolean(*e.IsBlindAppend)
			}
			rows[i] = sql.Row{
				e.Version, timeOrNull(e.Timestamp), orNull(e.UserID), orNull(e.UserName), orNull(e.Operation), jsonText(e.Parameters),
				orNull(e.Job), orNull(e.Notebook), orNull(e.ClusterID), countOrNull(e.ReadVersion),
				orNull(e.IsolationLevel), blind, jsonText(e.Metrics), orNull(e.UserMetadata), orNull(e.EngineInfo),
			}
		}
		return rows, nil
	})
}

func boolean(b bool) int8 {
	if b {
		return 1
	}
	return 0
}

// detailSchema has Spark's columns of DESCRIBE DETAIL.
var detailSchema = sql.Schema{
	{Name: "format", Type: textType}, {Name: "id", Type: textType}, {Name: "name", Type: textType}, {Name: "description", Type: textType, Nullable: true},
	{Name: "location", Type: textType}, {Name: "createdAt", Type: types.DatetimeMaxPrecision, Nullable: true},
	{Name: "lastModified", Type: types.DatetimeMaxPrecision, Nullable: true}, {Name: "partitionColumns", Type: textType}, {Name: "clusteringColumns", Type: textType},
	{Name: "numFiles", Type: types.Int64}, {Name: "sizeInBytes", Type: types.Int64}, {Name: "properties", Type: textType},
	{Name: "minReaderVersion", Type: types.Int64}, {Name: "minWriterVersion", Type: types.Int64}, {Name: "tableFeatures", Type: textType},
	{Name: "statistics", Type: textType},
}

func (c *Catalog) describeDetail(s *sqlext.DescribeDetail) action {
	return query("DESCRIBE DETAIL", detailSchema, func(ctx *sql.Context) ([]sql.Row, error) {
		t, err := c.lookup(ctx, s.Table)
		if err != nil {
			return nil, err
		}
		meta, protocol := t.snap.Metadata(), t.snap.Protocol()
		partitions := append([]string{}, meta.PartitionColumns...)
		properties := meta.Configuration
		if properties == nil {
			properties = map[string]string{}
		}
		clustering, err := t.snap.ClusteringColumns()
		if err != nil {
			return nil, err
		}
		return []sql.Row{{
			"delta", meta.ID, qualifiedName(t.database, t.name), orNull(meta.Description), t.handle.Store().URI(),
			timeOrNull(meta.CreatedTime), timeOrNull(t.snap.Timestamp()), jsonText(partitions), jsonText(pathTexts(clustering)), int64(t.snap.NumFiles()), t.snap.SizeInBytes(),
			jsonText(properties), int64(protocol.MinReader), int64(protocol.MinWriter), jsonText(features(protocol)), jsonText(deletionStatistics(t.snap)),
		}}, nil
	})
}

// deletionStatistics are Spark's statistics of a table: what deletion vectors hide.
func deletionStatistics(snap *delta.Snapshot) map[string]int64 {
	out := map[string]int64{"numDeletionVectors": 0, "numRowsDeletedByDeletionVectors": 0}
	for f := range snap.Files() {
		if dv := f.DeletionVector(); dv != nil {
			out["numDeletionVectors"]++
			out["numRowsDeletedByDeletionVectors"] += dv.Cardinality
		}
	}
	return out
}

// pathTexts are paths as texts, with dots.
func pathTexts(paths [][]string) []string {
	out := make([]string, len(paths))
	for i, p := range paths {
		out[i] = strings.Join(p, ".")
	}
	return out
}

// features are those of a protocol, readers' and writers'.
func features(p *delta.Protocol) []string {
	out := append([]string{}, p.WriterFeatures...)
	slices.Sort(out)
	return out
}
