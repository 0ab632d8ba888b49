// Package resultmeta derives what MySQL tells a client of the columns of a result: type, length, decimals, whether NULL is possible. GMS's types say what values
// are computed with; MySQL's metadata follows rules of its own, by class of expression, which are here: a Column is made of an expression and of the columns of its
// operands. It is read from a plan as it was built, before rules put other expressions in place of those of the statement.
//
// A column that no rule knows is one with the type NULL_TYPE and Known false: what is told of it follows from GMS's type. Values are not the package's
// concern: whether they can be sent as the derived type is found out where they are sent.
package resultmeta
