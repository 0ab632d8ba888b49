package clients

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestSuperset(t *testing.T) {
	python := filepath.Join(environment(t), "superset", "venv", "bin", "python")
	s := openShop(t)
	s.Exec(t, "CREATE TABLE shop.sales (id INT NOT NULL, item VARCHAR(20), amount DECIMAL(10,2), at DATETIME(6), day DATE)")
	s.Exec(t, `INSERT INTO shop.sales VALUES (1, 'pen', 0.10, '2024-01-31 10:15:30', '2024-01-31'), (2, 'pen', 0.20, '2024-02-29 11:00:00', '2024-02-29'),
		(3, 'ink', 19.99, '2024-05-05 23:59:59.999999', '2024-05-05'), (4, NULL, NULL, NULL, NULL)`)
	printed := run(t, nil, python, "superset.py", s.host, s.port, s.ca, t.TempDir())
	requireLines(t, supersetSees, printed[max(0, strings.Index(printed, "password ")):]) // behind what its own migrations say
}

// supersetSees is what superset.py prints.
const supersetSees = `
password 400 CONNECTION_ACCESS_DENIED_ERROR
schemas True
tables [('changing', 'table'), ('every', 'table'), ('numbers', 'table'), ('sales', 'table')]
column id INTEGER 0 False
column item VARCHAR(20) 1 False
column amount DECIMAL(10, 2) 0 False
column at DATETIME(6) 2 True
column day DATE 2 True
sums [{'item': None, 'sum': None, 'avg': None, 'count': 1}, {'item': 'ink', 'sum': 19.99, 'avg': 19.99, 'count': 1}, {'item': 'pen', 'sum': 0.3, 'avg': 0.15, 'count': 2}]
grain P1D (None, None) (1706659200000.0, 0.1) (1709164800000.0, 0.2) (1714867200000.0, 19.99)
grain P1W (None, None) (1706400000000.0, 0.1) (1708819200000.0, 0.2) (1714867200000.0, 19.99)
grain 1969-12-29T00:00:00Z/P1W (None, None) (1706486400000.0, 0.1) (1708905600000.0, 0.2) (1714348800000.0, 19.99)
grain P1M (None, None) (1704067200000.0, 0.1) (1706745600000.0, 0.2) (1714521600000.0, 19.99)
grain P3M (None, None) (1704067200000.0, 0.3) (1711929600000.0, 19.99)
grain P1Y (None, None) (1704067200000.0, 20.29)
range [{'item': 'pen', 'sum': 0.3}]
filter [{'item': 'pen', 'sum': 0.3}]
raw [{'id': 1, 'item': 'pen', 'day': 1706659200000.0}]
chart [{'item': None, 'sum': None}, {'item': 'ink', 'sum': 19.99}, {'item': 'pen', 'sum': 0.3}]
lab 200 [{'item': None, 'total': None, 'late': 0}, {'item': 'ink', 'total': 19.99, 'late': 0}]
lab 500 GENERIC_DB_ENGINE_ERROR
lab 500 GENERIC_DB_ENGINE_ERROR
`
