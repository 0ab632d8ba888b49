package catalog

// performanceEvents says what columns the tables of performance_schema have that tools read and that MySQL leaves empty where the schema is switched off.
const performanceEvents = `
events_statements_current
  THREAD_ID bigint unsigned NOT NULL
  EVENT_ID bigint unsigned NOT NULL
  END_EVENT_ID bigint unsigned
  EVENT_NAME varchar(128) NOT NULL
  SOURCE varchar(64)
  TIMER_START bigint unsigned
  TIMER_END bigint unsigned
  TIMER_WAIT bigint unsigned
  LOCK_TIME bigint unsigned NOT NULL
  SQL_TEXT longtext
  DIGEST varchar(64)
  DIGEST_TEXT longtext
  CURRENT_SCHEMA varchar(64)
  OBJECT_TYPE varchar(64)
  OBJECT_SCHEMA varchar(64)
  OBJECT_NAME varchar(64)
  OBJECT_INSTANCE_BEGIN bigint unsigned
  MYSQL_ERRNO int
  RETURNED_SQLSTATE varchar(5)
  MESSAGE_TEXT varchar(128)
  ERRORS bigint unsigned NOT NULL
  WARNINGS bigint unsigned NOT NULL
  ROWS_AFFECTED bigint unsigned NOT NULL
  ROWS_SENT bigint unsigned NOT NULL
  ROWS_EXAMINED bigint unsigned NOT NULL
  CREATED_TMP_DISK_TABLES bigint unsigned NOT NULL
  CREATED_TMP_TABLES bigint unsigned NOT NULL
  SELECT_FULL_JOIN bigint unsigned NOT NULL
  SELECT_FULL_RANGE_JOIN bigint unsigned NOT NULL
  SELECT_RANGE bigint unsigned NOT NULL
  SELECT_RANGE_CHECK bigint unsigned NOT NULL
  SELECT_SCAN bigint unsigned NOT NULL
  SORT_MERGE_PASSES bigint unsigned NOT NULL
  SORT_RANGE bigint unsigned NOT NULL
  SORT_ROWS bigint unsigned NOT NULL
  SORT_SCAN bigint unsigned NOT NULL
  NO_INDEX_USED bigint unsigned NOT NULL
  NO_GOOD_INDEX_USED bigint unsigned NOT NULL
  NESTING_EVENT_ID bigint unsigned
  NESTING_EVENT_TYPE enum('TRANSACTION','STATEMENT','STAGE','WAIT')
  NESTING_EVENT_LEVEL int
  STATEMENT_ID bigint unsigned
  CPU_TIME bigint unsigned NOT NULL
  MAX_CONTROLLED_MEMORY bigint unsigned NOT NULL
  MAX_TOTAL_MEMORY bigint unsigned NOT NULL
  EXECUTION_ENGINE enum('PRIMARY','SECONDARY')
user_variables_by_thread
  THREAD_ID bigint unsigned NOT NULL
  VARIABLE_NAME varchar(64) NOT NULL
  VARIABLE_VALUE blob
`
