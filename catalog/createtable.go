package catalog

// createClauses are the clauses of a CREATE TABLE that GMS does not hand to the database.
type createClauses struct{}
