package delta

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"lakesql/store"
)

// A checksum file says about a version what a replay of the log must come to. Nothing depends on one: it may be missing, damaged, or
// lack any field, and is then as if it were not there.

// Bounds of what a checksum repeats of the table's state, which are Spark's.
const (
	maxChecksumTxns    = 100
	maxChecksumDomains = 10
)

// checksumJSON are the fields that this package writes, in Spark's order. Those that are pointers are left out where they are not known, or
// where the table does not use what they are about.
type checksumJSON struct {
	TxnID               string             `json:"txnId,omitempty"`
	TableSizeBytes      *int64             `json:"tableSizeBytes"`
	NumFiles            *int64             `json:"numFiles"`
	NumDeletedRecords   *int64             `json:"numDeletedRecordsOpt,omitempty"`
	NumDeletionVectors  *int64             `json:"numDeletionVectorsOpt,omitempty"`
	NumMetadata         int64              `json:"numMetadata"`
	NumProtocol         int64              `json:"numProtocol"`
	InCommitTimestamp   *int64             `json:"inCommitTimestampOpt,omitempty"`
	SetTransactions     *[]json.RawMessage `json:"setTransactions,omitempty"`
	DomainMetadata      *[]json.RawMessage `json:"domainMetadata,omitempty"`
	Metadata            *metadataJSON      `json:"metadata"`
	Protocol            *protocolJSON      `json:"protocol"`
	FileSizeHistogram   *sizeHistogramJSON `json:"fileSizeHistogram,omitempty"`
	DeletedRecordCounts *deletedCountsJSON `json:"deletedRecordCountsHistogramOpt,omitempty"`
}

type sizeHistogramJSON struct {
	SortedBinBoundaries []int64 `json:"sortedBinBoundaries"`
	FileCounts          []int64 `json:"fileCounts"`
	TotalBytes          []int64 `json:"totalBytes"`
}

type deletedCountsJSON struct {
	DeletedRecordCounts []int64 `json:"deletedRecordCounts"`
}

// parseChecksum reads what this package uses of a checksum: sizes, metadata and protocol. nil: it is no checksum.
func parseChecksum(data []byte) *checksumJSON {
	var in struct {
		TxnID          string        `json:"txnId"`
		TableSizeBytes *int64        `json:"tableSizeBytes"`
		NumFiles       *int64        `json:"numFiles"`
		Metadata       *metadataJSON `json:"metadata"`
		Protocol       *protocolJSON `json:"protocol"`
	}
	if json.Unmarshal(data, &in) != nil {
		return nil
	}
	return &checksumJSON{TxnID: in.TxnID, TableSizeBytes: in.TableSizeBytes, NumFiles: in.NumFiles, Metadata: in.Metadata, Protocol: in.Protocol}
}

// readChecksum returns nil when the version has no checksum that can be used.
func readChecksum(ctx context.Context, st store.Store, version int64) (*checksumJSON, error) {
	data, err := st.Get(ctx, checksumKey(version))
	if errors.Is(err, store.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the checksum of version %d of %s: %w", version, st.URI(), err)
	}
	return parseChecksum(data), nil
}

// contradicts returns an ErrCorrupt when a checksum of the snapshot's version says otherwise.
func (c *checksumJSON) contradicts(s *Snapshot) error {
	files, size := int64(s.NumFiles()), s.SizeInBytes()
	if (c.NumFiles == nil || *c.NumFiles == files) && (c.TableSizeBytes == nil || *c.TableSizeBytes == size) {
		return nil
	}
	known := func(n *int64) string {
		if n == nil {
			return "unknown"
		}
		return fmt.Sprint(*n)
	}
	return fmt.Errorf("%w: %s of %s says %s files of %s bytes, and the log comes to %d of %d", ErrCorrupt,
		logFileName(checksumKey(s.Version())), s.uri, known(c.NumFiles), known(c.TableSizeBytes), files, size)
}

// checksumOf is what a replay of the log up to the snapshot's version comes to; false where that is not known to the last field.
func checksumOf(s *Snapshot) (*checksumJSON, bool) {
	counts := s.files.counts()
	metadata, protocol := s.metadata.json(), s.protocol.json()
	c := &checksumJSON{TableSizeBytes: new(s.SizeInBytes()), NumFiles: new(int64(s.NumFiles())), NumMetadata: 1, NumProtocol: 1, Metadata: &metadata, Protocol: &protocol,
		SetTransactions: checksumTxns(s), DomainMetadata: checksumDomains(s),
		FileSizeHistogram: &sizeHistogramJSON{SortedBinBoundaries: sizeBins, FileCounts: counts.files, TotalBytes: counts.bytes}}
	if s.protocol.Supports("deletionVectors") {
		c.NumDeletedRecords, c.NumDeletionVectors = &counts.deleted, &counts.vectors
		c.DeletedRecordCounts = &deletedCountsJSON{counts.byDeleted}
	}
	if s.hasInCommitTimestamps() {
		c.InCommitTimestamp = &s.inCommit
		return c, s.inCommit != 0
	}
	return c, true
}

// checksumTxns are the table's txns. Where they expire, readers may not agree which there are; those of others are many.
func checksumTxns(s *Snapshot) *[]json.RawMessage {
	txns := s.txns.all()
	if _, expire := s.metadata.Configuration["delta.setTransactionRetentionDuration"]; expire || len(txns) > maxChecksumTxns {
		return nil
	}
	out := make([]json.RawMessage, 0, len(txns))
	for _, app := range sortedKeys(txns) {
		out = append(out, appendTxn(nil, txnAction{app, txns[app]}))
	}
	return &out
}

func checksumDomains(s *Snapshot) *[]json.RawMessage {
	if len(s.domains) > maxChecksumDomains {
		return nil
	}
	out := make([]json.RawMessage, 0, len(s.domains))
	for _, domain := range sortedKeys(s.domains) {
		out = append(out, appendDomain(nil, domainAction{domain: domain, configuration: s.domains[domain]}))
	}
	return &out
}

// writeChecksum writes the checksum of the snapshot's version unless there is one.
func writeChecksum(ctx context.Context, st store.Store, s *Snapshot) error {
	c, exact := checksumOf(s)
	if !exact {
		return nil
	}
	var err error
	if c.TxnID, err = readTxnID(ctx, st, s.Version()); err != nil {
		return err
	}
	err = st.PutIfAbsent(ctx, checksumKey(s.Version()), append(mustJSON(c), '\n'))
	if err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("write the checksum of version %d of %s: %w", s.Version(), st.URI(), err)
	}
	return nil
}

// maxCommitInfo bounds what is read of a commit to find its commitInfo, which is at the front where writers put it there.
const maxCommitInfo = 64 << 10

// readTxnID is the id that the writer of a version gave to it; "" when the front of its commit does not have one.
func readTxnID(ctx context.Context, st store.Store, version int64) (string, error) {
	front, err := st.GetRange(ctx, commitKey(version), 0, maxCommitInfo)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("read commit %d of %s: %w", version, st.URI(), err)
	}
	line, _, _ := bytes.Cut(front, []byte("\n"))
	c, err := parseCommit(logFileName(commitKey(version)), version, line)
	if err != nil { // cut within a line
		return "", nil
	}
	return commitTxnID(c.info), nil
}

// ID is the table's metaData.id. It is read from a checksum where there is one, so that it costs no replay, and a table that this build
// cannot read has one too. ErrNoTable when there is no log.
func (t *Table) ID(ctx context.Context) (string, error) {
	if id, err := t.checksummedID(ctx); err != nil || id != "" {
		return id, err
	}
	s, err := t.newest(ctx)
	if err != nil {
		return "", err
	}
	return s.metadata.ID, nil
}

// checksummedID is "" when no checksum of the newest version's own commit tells.
func (t *Table) checksummedID(ctx context.Context) (string, error) {
	from, _ := readLastCheckpoint(ctx, t.st)
	listing, err := listVersions(ctx, t.st, from)
	if err != nil || listing.version() < 0 {
		return "", err
	}
	c, err := readChecksum(ctx, t.st, listing.version())
	if err != nil || c == nil || c.Metadata == nil || c.TxnID == "" {
		return "", err
	}
	id, err := readTxnID(ctx, t.st, listing.version())
	if err != nil || id != c.TxnID {
		return "", err
	}
	return c.Metadata.ID, nil
}
