package server

import (
	"syscall"

	"github.com/dolthub/vitess/go/mysql"

	"lakesql/batch"
	"lakesql/catalog"
	"lakesql/catalog/compile"
	"lakesql/catalog/mysqltype"
	"lakesql/checkpoint"
	"lakesql/delta"
	"lakesql/files"
	"lakesql/format"
	"lakesql/format/parquet"
	"lakesql/sqlext"
	"lakesql/store"
	"lakesql/stream"
	"lakesql/stream/source"
	"lakesql/vector"
)

// ownAsMySQL are errors of ours that MySQL has too.
var ownAsMySQL = []struct {
	num   int
	state string
	match func(error) bool
}{
	{mysql.ERNotSupportedYet, mysql.SSClientError, streamKind(stream.KindUnsupported)},
	{mysql.ERNotSupportedYet, mysql.SSClientError, catalogKind(catalog.KindUnsupported)},
	{mysql.ERNotSupportedYet, mysql.SSClientError, refusal(sqlext.NotSupported)},
	{mysql.ERNotSupportedYet, mysql.SSClientError, fileArgument(true)},
	{mysql.ERNotSupportedYet, mysql.SSClientError, typed[*store.SchemeError]},
	{mysql.ERNotSupportedYet, mysql.SSClientError, typed[*mysqltype.UnsupportedError]},
	{mysql.ERNotSupportedYet, mysql.SSClientError, typed[*vector.UnsupportedError]},
	{mysql.ERUnknownError, mysql.SSUnknownSQLState, streamKind(stream.KindPanic)},
	{mysql.ERNoSuchTable, "42S02", is(delta.ErrNoTable)},
	{1366, "HY000", typed[*batch.JSONError]},
	{mysqltype.WrongValue, "22007", typed[*mysqltype.DateError]},
	{mysqltype.OutOfRange, "22003", wrongDecimal(mysqltype.OutOfRange)},
	{mysqltype.WrongNumber, "HY000", wrongDecimal(mysqltype.WrongNumber)},
	{mysqltype.WrongValue, "22007", typed[*compile.ValueError]},
	{1365, "22012", typed[*compile.DivisionError]},
	{mysql.ERBadNullError, "23000", is(delta.ErrNull)},
	{3819, "HY000", is(delta.ErrCheck)},
	{mysql.ERDataTooLong, "22001", is(delta.ErrLength)},
	{3105, "HY000", is(delta.ErrGenerated)},
	{mysql.ERDataOutOfRange, mysql.SSDataOutOfRange, is(delta.ErrConstraint)}, // an identity column has no values left
	{mysql.ERLockDeadlock, mysql.SSLockDeadlock, is(delta.ErrConflict)},
}

// ownErrors are our numbers: 20001 to 20999, SQLSTATE 45000. A number keeps its meaning for ever: clients test for it.
// docs/errors.md is written from this table.
var ownErrors = []ownError{
	{20001, "There is no stream of that name.", streamKind(stream.KindNotFound)},
	{20002, "A stream of that name exists.", streamKind(stream.KindExists)},
	{20003, "The stream's definition contradicts itself or its checkpoint.", streamKind(stream.KindInvalid)},
	{20004, "The statement does not fit the state that the stream is in.", streamKind(stream.KindWrongState)},
	{20005, "CREATE STREAM has no checkpoint.", refusal(sqlext.MissingCheckpoint)},
	{20006, "The statement has another system's form, or clauses that contradict each other.", refusal(sqlext.WrongForm)},
	{20007, "STREAM fn(...) stands outside of a stream statement.", refusal(sqlext.StreamOutside)},
	{20010, "Another stream has the checkpoint.", streamKind(stream.KindCheckpointHeld)},
	{20011, "The stream's checkpoint, or what COPY INTO has recorded, is missing, damaged, another engine's, or has state.", streamKind(stream.KindCheckpoint)},
	{20012, "The table is ahead of the stream's checkpoint.", streamKind(stream.KindCheckpointStale)},
	{20013, "The table lacks batches that the checkpoint says were committed.", streamKind(stream.KindBatchesLost)},
	{20014, "The stream's target is another table than the checkpoint's.", streamKind(stream.KindTableReplaced)},
	{20020, "The columns of the SELECT of a stream or COPY INTO do not fit the target.", streamKind(stream.KindSchema)},
	{20021, "The data of a stream or COPY INTO cannot be read as its options say.", streamKind(stream.KindData)},
	{20022, "A source file that was recorded for a batch, or listed by COPY INTO, changed or is gone; or a source table is another one, or has lost versions or files.", streamKind(stream.KindSourceChanged)},
	{20023, "A batch had more malformed rows than MAX n ROWS.", streamKind(stream.KindTooManyErrors)},
	{20024, "Another process wrote this stream's batch.", streamKind(stream.KindConcurrentStream)},
	{20025, "COPY INTO names a folder or file that is not there.", streamKind(stream.KindNoSource)},
	{20030, "WAIT FOR STREAM ran out of time.", streamKind(stream.KindTimeout)},
	{20031, "WAIT FOR STREAM met a stream that failed.", streamKind(stream.KindStreamFailed)},
	{20040, "The statement's parts do not fit each other, or a name cannot be one.", catalogKind(catalog.KindInvalid)},
	{20043, "What is asked does not fit the Delta table as it is.", is(delta.ErrRefused)},
	{20041, "A stream uses the table or database.", catalogKind(catalog.KindInUse)},
	{20042, "The statement does not fit the transaction that it is in.", catalogKind(catalog.KindTransaction)},

	{20101, "A concurrent commit carried the same stream's transaction.", is(delta.ErrConcurrentTxn)},
	{20102, "The table uses Delta features that this version does not know.", typed[*delta.UnsupportedError]},
	{20103, "The table does not have that version, or not any more.", is(delta.ErrNoVersion)},
	{20104, "The table's log breaks the Delta protocol.", is(delta.ErrCorrupt)},

	{20201, "There is no checkpoint at that place.", checkpointKind(checkpoint.Missing)},
	{20202, "The checkpoint has logs and no metadata.", checkpointKind(checkpoint.NoMetadata)},
	{20203, "The checkpoint is damaged.", checkpointKind(checkpoint.Damaged)},
	{20204, "The checkpoint's logs have another version than v1.", checkpointKind(checkpoint.UnsupportedVersion)},
	{20205, "The checkpoint has the state of a stateful query.", checkpointKind(checkpoint.HasState)},
	{20206, "A reset of the checkpoint was cut short.", checkpointKind(checkpoint.ResetUnfinished)},
	{20207, "A checkpoint is there already.", checkpointKind(checkpoint.Exists)},
	{20208, "The checkpoint was deleted while it was in use.", checkpointKind(checkpoint.Gone)},
	{20209, "The checkpoint was replaced while it was in use.", checkpointKind(checkpoint.Changed)},
	{20210, "Another process works on the checkpoint.", checkpointKind(checkpoint.Concurrent)},
	{20211, "Another server holds the checkpoint's lease.", checkpointKind(checkpoint.Held)},
	{20212, "Another server has taken the checkpoint's lease over.", checkpointKind(checkpoint.LeaseLost)},
	{20213, "The checkpoint belongs to another stream or table.", checkpointKind(checkpoint.Bound)},

	{20301, "A source file is gone.", typed[*files.GoneError]},
	{20302, "A source file changed after it was listed.", typed[*files.ChangedError]},
	{20303, "A source file cannot be read as what the options say it is.", typed[*files.UnreadableError]},
	{20304, "There is no file from which the columns could be inferred.", is(files.ErrNoData, source.ErrNoData)},
	{20305, "A record is malformed, and the mode is FAILFAST.", typed[*format.RecordError]},
	{20306, "The file or the options are not what the format can be.", typed[*format.Error]},
	{20307, "A text is not of its column's type.", typed[*batch.ParseError]},
	{20308, "The source is not what it was when the range was recorded.", is(source.ErrChanged)},
	{20309, "The source holds data that cannot be read.", is(source.ErrData)},
	{20310, "A Parquet file is damaged.", is(parquet.ErrDamaged)},
	{20311, "A Parquet file holds what this version does not read.", is(parquet.ErrUnsupported)},
	{20312, "A Parquet file's values are not of the wanted type.", is(parquet.ErrType)},
	{20313, "The path or an option of read_files, or of a stream's source, cannot be what it is.", fileArgument(false)},

	{20401, "The path lies outside of the warehouse and the allowed folders.", typed[*store.OutsideError]},
	{20402, "The folder is not there.", is(store.ErrRootMissing)},
	{20403, "The object is not there.", is(store.ErrNotFound)},
	{20404, "The object is there already.", is(store.ErrExists)},
	{20405, "Whether a write took place is not known.", is(store.ErrAmbiguous)},
	{20406, "The operating system refused to read or write a file.", typed[syscall.Errno]},
	{20407, "The text cannot be the URI of a file.", typed[*store.URIError]},
}

func streamKind(k stream.ErrorKind) func(error) bool {
	return func(err error) bool {
		e, ok := err.(*stream.Error)
		return ok && e.Kind == k
	}
}

func catalogKind(k catalog.ErrorKind) func(error) bool {
	return func(err error) bool {
		e, ok := err.(*catalog.Error)
		return ok && e.Kind == k
	}
}

func checkpointKind(k checkpoint.Kind) func(error) bool {
	return func(err error) bool {
		e, ok := err.(*checkpoint.Error)
		return ok && e.Kind == k
	}
}

func refusal(k sqlext.RefusalKind) func(error) bool {
	return func(err error) bool {
		e, ok := err.(*sqlext.RefusedError)
		return ok && e.Kind == k
	}
}

func fileArgument(later bool) func(error) bool {
	return func(err error) bool {
		e, ok := err.(*files.ArgumentError)
		return ok && e.Later == later
	}
}

func typed[T error](err error) bool {
	_, ok := err.(T)
	return ok
}

// wrongDecimal matches the errors of DECIMAL columns that have a number.
func wrongDecimal(number int) func(error) bool {
	return func(err error) bool {
		e, ok := err.(*mysqltype.DecimalError)
		return ok && e.Number() == number
	}
}

// is matches the sentinels themselves, and errors that say that they are one.
func is(sentinels ...error) func(error) bool {
	return func(err error) bool {
		for _, s := range sentinels {
			if err == s {
				return true
			}
			if e, ok := err.(interface{ Is(error) bool }); ok && e.Is(s) {
				return true
			}
		}
		return false
	}
}
