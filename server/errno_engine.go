package server

import (
	"regexp"
	"slices"

	"github.com/dolthub/go-mysql-server/sql"
	"github.com/dolthub/go-mysql-server/sql/analyzer"
	"github.com/dolthub/go-mysql-server/sql/analyzer/analyzererrors"
	"github.com/dolthub/go-mysql-server/sql/expression"
	"github.com/dolthub/go-mysql-server/sql/plan"
	"github.com/dolthub/go-mysql-server/sql/planbuilder"
	"github.com/dolthub/go-mysql-server/sql/rowexec"
	"github.com/dolthub/go-mysql-server/sql/types"
	"github.com/dolthub/vitess/go/mysql"
	goerrors "gopkg.in/src-d/go-errors.v1"
)

// engineErrors gives GMS' errors MySQL's numbers. pattern and text reword those messages that tools look for; the rest stay GMS'. A
// rule without kinds is for an error that GMS keeps to itself: its pattern finds it.
var engineErrors = []struct {
	num     int
	kinds   []*goerrors.Kind
	pattern string
	text    string
}{
	{1146, kinds(sql.ErrTableNotFound), `^table not found: (.+?)(?:, maybe you mean .*)?$`, "Table '$1' doesn't exist"},
	{1051, kinds(sql.ErrUnknownTable, sql.ErrViewDoesNotExist), "", ""},
	{1050, kinds(sql.ErrTableAlreadyExists), `^table with name (.*) already exists$`, "Table '$1' already exists"},
	{1050, kinds(sql.ErrExistingView), "", ""},
	{1049, kinds(sql.ErrDatabaseNotFound), `^database not found: (.*)$`, "Unknown database '$1'"},
	{1007, kinds(sql.ErrDatabaseExists), `^can't create database (.*); database exists$`, "Can't create database '$1'; database exists"},
	{1046, kinds(sql.ErrNoDatabaseSelected), `^no database selected$`, "No database selected"},
	{1102, kinds(sql.ErrWrongDBName, sql.ErrInvalidDatabaseName), "", ""},
	{1054, kinds(sql.ErrColumnNotFound), `^column "(.*)" could not be found in any table in scope$`, "Unknown column '$1'"},
	{1054, kinds(sql.ErrTableColumnNotFound), `^table "(.*)" does not have column "(.*)"$`, "Unknown column '$2' in table '$1'"},
	{1054, kinds(sql.ErrUnknownColumn), `^Unknown column '(.*)' in '[^ ]*'$`, "Unknown column '$1' in 'field list'"}, // an INSERT's, of a table
	{1054, kinds(sql.ErrMisusedAlias), "", ""},
	{1052, kinds(sql.ErrAmbiguousColumnName), `^ambiguous column name "(.*?)", it's present in all these tables: (.*)$`,
		"Column '$1' is ambiguous: the tables $2 have it"},
	{1052, kinds(sql.ErrAmbiguousColumnInOrderBy), `^Column "(.*)" in order clause is ambiguous$`, "Column '$1' in order clause is ambiguous"},
	{1052, kinds(sql.ErrAmbiguousColumnOrAliasName), "", ""},
	{1066, kinds(sql.ErrDuplicateAliasOrTable), `^Not unique table/alias: (.*)$`, "Not unique table/alias: '$1'"},
	{1305, kinds(sql.ErrFunctionNotFound), `^function: '(.*?)' not found`, "FUNCTION $1 does not exist"},
	{1305, kinds(sql.ErrTableFunctionNotFound), `^table function: '(.*?)' not found`, "FUNCTION $1 does not exist"},
	{1305, kinds(sql.ErrStoredProcedureDoesNotExist), `^stored procedure "(.*)" does not exist$`, "PROCEDURE $1 does not exist"},
	{1305, kinds(sql.ErrSavepointDoesNotExist), "", ""},
	{1582, kinds(sql.ErrInvalidArgumentNumber), `^function '(.*)' expected .* arguments, .* received$`, "Incorrect parameter count in the call to native function '$1'"},
	{1193, kinds(sql.ErrUnknownSystemVariable), `^Unknown system variable '(?:@@)?(?:session\.|global\.|local\.)?(.*)'$`, "Unknown system variable '$1'"},
	{1231, kinds(sql.ErrInvalidSystemVariableValue), "", ""},
	{1238, kinds(sql.ErrSystemVariableReadOnly), "", ""},
	{1228, kinds(sql.ErrSystemVariableSessionOnly), "", ""},
	{1229, kinds(sql.ErrSystemVariableGlobalOnly), "", ""},
	{1298, kinds(sql.ErrInvalidTimeZone), `^Unknown or incorrect time zone: (.*)$`, "Unknown or incorrect time zone: '$1'"},
	{1060, kinds(sql.ErrColumnExists), `^Column "(.*)" already exists$`, "Duplicate column name '$1'"},
	{1060, kinds(sql.ErrDuplicateColumn), "^duplicate column name: `(.*)`$", "Duplicate column name '$1'"},
	{1048, kinds(sql.ErrInsertIntoNonNullableProvidedNull), `^column name '(.*)' is non-nullable`, "Column '$1' cannot be null"},
	{1364, kinds(sql.ErrInsertIntoNonNullableDefaultNullColumn), "", ""},
	{1062, kinds(sql.ErrPrimaryKeyViolation, sql.ErrUniqueKeyViolation, sql.ErrDuplicateEntry), "", ""},
	{1136, kinds(sql.ErrInsertIntoMismatchValueCount, sql.ErrColValCountMismatch), `^number of values does not match number of columns provided$`, "Column count doesn't match value count at row 1"},
	{1110, kinds(sql.ErrColumnSpecifiedTwice), `^column '(.*)' specified twice$`, "Column '$1' specified twice"},
	{1222, kinds(sql.ErrColumnNumberDoesNotMatch, planbuilder.ErrSelectsDifferentLength), `^(?i:the used SELECT statements have a different number of columns)`, "The used SELECT statements have a different number of columns"},
	{1250, kinds(planbuilder.ErrQualifiedOrderBy), "", ""},
	{1171, kinds(planbuilder.ErrPrimaryKeyOnNullField), "", ""},
	{1054, kinds(analyzer.ErrOrderByColumnIndex), `^unknown column (\d+) in order by clause$`, "Unknown column '$1' in 'order clause'"},
	{1055, kinds(analyzererrors.ErrValidationGroupBy, analyzererrors.ErrValidationGroupByOrderBy), "", ""},
	{1111, kinds(analyzererrors.ErrValidationOrderBy), "", ""},
	{1690, kinds(expression.ErrIntDivDataOutOfRange), "", ""},
	{1139, kinds(expression.ErrInvalidRegexp), "", ""},
	{3685, nil, `^(?:the given regular expression is invalid|Illegal argument to regular expression)`, "Illegal argument to a regular expression."},
	{1265, kinds(types.ErrDataTruncatedForColumn, types.ErrDataTruncatedForColumnAtRow), "", ""},
	{1292, kinds(types.ErrConvertingToTime, types.ErrConvertingToTimeOutOfRange, types.ErrConvertingToTimeType, types.ErrConvertingToYear), "", ""},
	{1366, kinds(types.ErrConvertingToDecimal, types.ErrBadCharsetString, types.ErrConvertingToEnum), "", ""},
	{1406, kinds(types.ErrLengthBeyondLimit), "", ""},
	{1074, kinds(types.ErrLengthTooLarge), "", ""},
	{3037, kinds(sql.ErrInvalidGISData), "", ""},
	{1353, kinds(sql.ErrColumnCountMismatch), "", ""},
	{1356, kinds(sql.ErrInvalidRefInView), "", ""},
	{3819, kinds(sql.ErrCheckConstraintViolated), "", ""},
	{1044, kinds(sql.ErrDatabaseAccessDeniedForUser), "", ""},
	{1142, kinds(sql.ErrTableAccessDeniedForUser, sql.ErrPrivilegeCheckFailed), "", ""},
	{1140, kinds(sql.ErrNonAggregatedColumnWithoutGroupBy), `^in (aggregated query without GROUP BY), (?:expression #%!d\(MISSING\) of SELECT list contains nonaggregated column '%!s\(MISSING\)'; )?(.*)$`, "In $1, $2"},
	{1242, kinds(sql.ErrExpectedSingleRow), `^the subquery returned more than 1 row$`, "Subquery returns more than 1 row"},
	{1241, kinds(sql.ErrInvalidOperandColumns), `^operand should have (\d+) columns, but has \d+$`, "Operand should contain $1 column(s)"},
	{1172, kinds(sql.ErrMoreThanOneRow), "", ""},
	{1792, kinds(sql.ErrReadOnlyTransaction), "", ""},
	{1290, kinds(sql.ErrReadOnly, sql.ErrSecureFilePriv), "", ""},
	{1213, kinds(sql.ErrLockDeadlock), "", ""},
	{1295, kinds(sql.ErrUnsupportedPreparedStatement), "", ""},
	{1243, kinds(sql.ErrUnknownPreparedStatement), "", ""},
	{1210, kinds(sql.ErrInvalidArgument), `^Invalid argument to (.*)$`, "Incorrect arguments to $1"},
	{1210, kinds(sql.ErrUnboundPreparedStatementVariable, sql.ErrInvalidArgumentDetails, sql.ErrInvalidArgumentType), "", ""},
	{1264, kinds(sql.ErrValueOutOfRange, types.ErrConvertToDecimalLimit), "", ""},
	{1366, kinds(sql.ErrInvalidValue, sql.ErrInvalidValueType), "", ""},
	{1292, kinds(sql.ErrTruncatedIncorrect), "", ""},
	{3141, kinds(sql.ErrInvalidJSONText, sql.ErrInvalidJson), "", ""},
	{3146, kinds(sql.ErrInvalidJSONArgument), `^invalid data type for JSON data in argument (\d+) to function (.*); a JSON string or JSON type is required$`,
		"Invalid data type for JSON data in argument $1 to function $2; a JSON string or JSON type is required."},
	{1411, nil, `^unable to parse '(.*)' to UUID: invalid UUID \(`, "Incorrect string value: '$1' for function bin_to_uuid"},
	{1411, kinds(sql.ErrUuidUnableToParse), `^unable to parse '(.*)' to UUID: .*$`, "Incorrect string value: '$1' for function uuid_to_bin"},
	{1091, kinds(sql.ErrCantDropFieldOrKey), `^error: can't drop '(.*)'; check that column/key exists$`, "Can't DROP '$1'; check that column/key exists"},
	{1061, kinds(sql.ErrDuplicateKey), "", ""},
	{1068, kinds(sql.ErrMultiplePrimaryKeysDefined), "", ""},
	{1072, kinds(sql.ErrKeyColumnDoesNotExist, sql.ErrUnknownIndexColumn), "", ""},
	{1075, kinds(sql.ErrWrongAutoKey, sql.ErrInvalidAutoIncCols), "", ""},
	{1059, kinds(sql.ErrIdentifierIsTooLong), "", ""},
	{1067, kinds(sql.ErrInvalidColumnDefaultValue, sql.ErrIncompatibleDefaultType), "", ""},
	{1086, kinds(sql.ErrFileExists), "", ""},
	{29, kinds(sql.ErrLoadDataCannotOpen), "", ""},
	{1096, kinds(sql.ErrNoTablesUsed), "", ""},
	{1115, kinds(sql.ErrCharSetUnknown, sql.ErrCharSetNotYetImplementedTemp), `^Unknown character set: (.*)$`, "Unknown character set: '$1'"},
	{1273, kinds(sql.ErrCollationUnknown, sql.ErrCollationNotYetImplementedTemp), `^Unknown collation: (.*)$`, "Unknown collation: '$1'"},
	{1253, kinds(sql.ErrCollationInvalidForCharSet), "", ""},
	{1267, kinds(sql.ErrCollationIllegalMix), "", ""},
	{3579, kinds(sql.ErrUnknownWindowName), "^Window name '(.*)' is not defined$", "Window name '$1' is not defined."},
	{3636, kinds(sql.ErrCteRecursionLimitExceeded), "", ""},
	{1396, kinds(sql.ErrUserCreationFailure, sql.ErrUserAlterFailure, sql.ErrUserDeletionFailure, sql.ErrRoleCreationFailure,
		sql.ErrRoleDeletionFailure), "", ""},
	{1410, kinds(sql.ErrGrantUserDoesNotExist), "", ""},
	{1141, kinds(sql.ErrRevokeUserDoesNotExist, sql.ErrShowGrantsUserDoesNotExist), "", ""},
	{1064, kinds(sql.ErrSyntaxError, sql.ErrInvalidSyntax), "", ""},
	{1235, kinds(sql.ErrSessionDoesNotSupportPersistence, sql.ErrUnsupportedFeature, sql.ErrUnsupportedSyntax, sql.ErrAsOfNotSupported, sql.ErrCreateTableNotSupported,
		sql.ErrDropTableNotSupported, sql.ErrRenameTableNotSupported, sql.ErrAlterTableNotSupported,
		sql.ErrAlterTableCollationNotSupported, sql.ErrAlterTableCommentNotSupported, sql.ErrDatabaseCollationsNotSupported,
		sql.ErrTriggersNotSupported, sql.ErrViewsNotSupported, sql.ErrStoredProceduresNotSupported, sql.ErrEventsNotSupported,
		sql.ErrNoForeignKeySupport, sql.ErrTemporaryTableNotSupported, sql.ErrTableCopyingNotSupported, sql.ErrFullTextNotSupported,
		sql.ErrFullTextDatabaseNotSupported, sql.ErrImmutableDatabaseProvider, sql.ErrStarUnsupported, sql.ErrAggregationUnsupported,
		sql.ErrWindowUnsupported, sql.ErrInvalidType, planbuilder.ErrOrderByBinding, plan.ErrNotIndexable, plan.ErrInsertIntoNotSupported,
		plan.ErrReplaceIntoNotSupported, plan.ErrOnDuplicateKeyUpdateNotSupported, plan.ErrAutoIncrementNotSupported,
		plan.ErrDeleteFromNotSupported, plan.ErrUpdateNotSupported, plan.ErrUpdateForTableNotSupported, plan.ErrTruncateNotSupported,
		plan.ErrNotPrimaryKeyAlterable, plan.ErrNoCheckConstraintSupport, plan.ErrGroupBy, rowexec.ErrTableNotLockable), "", ""},
}

func kinds(k ...*goerrors.Kind) []*goerrors.Kind { return k }

// states are MySQL's SQLSTATEs other than HY000, by number.
var states = map[int]string{
	1044: "42000", 1045: "28000", 1046: "3D000", 1048: "23000", 1049: "42000", 1050: "42S01", 1051: "42S02", 1052: "23000", 1053: "08S01",
	1054: "42S22", 1055: "42000", 1056: "42000", 1059: "42000", 1060: "42S21", 1061: "42000", 1062: "23000", 1064: "42000", 1065: "42000", 1066: "42000", 1067: "42000",
	1068: "42000", 1072: "42000", 1074: "42000", 1075: "42000", 1091: "42000", 1102: "42000", 1110: "42000", 1115: "42000", 1136: "21S01", 1139: "42000", 1140: "42000", 1141: "42000",
	1142: "42000", 1146: "42S02", 1171: "42000", 1172: "42000", 1213: "40001", 1222: "21000", 1227: "42000", 1231: "42000", 1235: "42000", 1241: "21000",
	1242: "21000", 1250: "42000", 1253: "42000", 1264: "22003", 1265: "01000", 1292: "22007", 1305: "42000", 1317: "70100", 1406: "22001", 1410: "42000", 1451: "23000", 1452: "23000", 1582: "42000",
	1327: "42000", 1426: "42000", 1690: "22003", 1792: "25006", 3037: "22023", 3140: "22032", 3141: "22032", 3143: "42000", 3146: "22032", 3153: "42000", 3154: "42000", 3158: "22032",
}

// engineNumber looks an error up among GMS'.
func engineNumber(err error) *mysql.SQLError {
	e, ok := err.(*goerrors.Error)
	if !ok {
		return nil
	}
	message := err.Error()
	for i, rule := range engineErrors {
		var words []int
		if engineText[i] != nil {
			words = engineText[i].FindStringSubmatchIndex(message)
		}
		is := func(kind *goerrors.Kind) bool { return isKind(kind, e) }
		if !slices.ContainsFunc(rule.kinds, is) && (rule.kinds != nil || words == nil) {
			continue
		}
		if words != nil {
			message = string(engineText[i].ExpandString(nil, rule.text, message, words))
		}
		return withState(mysql.NewSQLError(rule.num, "", "%s", message))
	}
	return nil
}

// isKind tells whether the error itself, not one that it wraps, is of a kind.
func isKind(kind *goerrors.Kind, e *goerrors.Error) bool {
	return kind.Is(e) && (e.Cause() == nil || !kind.Is(e.Cause()))
}

var engineText = func() []*regexp.Regexp {
	list := make([]*regexp.Regexp, len(engineErrors))
	for i, rule := range engineErrors {
		if rule.pattern != "" {
			list[i] = regexp.MustCompile(rule.pattern)
		}
	}
	return list
}()
