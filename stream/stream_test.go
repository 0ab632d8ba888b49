package stream

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTheJob(t *testing.T) {
	l := newLake(t)
	s := l.serve()
	s.create(sales())
	s.caughtUp()
	require.Equal(t, Idle, s.state().State)
	require.Equal(t, "waiting for the first file", s.state().Reason)

	l.put("data_1.csv", "\ntransaction_id,item,amount\n1,apple,1.5\n2,pear,2.5\n")
	s.caughtUp()
	require.Equal(t, []string{"1|apple|1.5", "2|pear|2.5"}, l.rows("sales"))
}
