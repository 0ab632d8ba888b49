package vector

// FloatSum is a sum of DOUBLEs, and how many they are. It overflows where the whole does, whatever the order in which they come: 1e308, 1e308 and -1e308 are 1e308.
type FloatSum struct {
	sum  float64
	high float64 // what did not fit in sum, in units of highUnit
	n    int64
}

const highUnit = 1 << 64

// Add adds a value.
func (s *FloatSum) Add(x float64) {
	s.n++
	s.plus(x)
}

func (s *FloatSum) plus(x float64) {
	if sum := s.sum + x; sum-sum == 0 {
		s.sum = sum
	} else {
		s.carry(x)
	}
}

// carry adds a value after which the sum is not finite.
func (s *FloatSum) carry(x float64) {
	if !finite(s.sum) || !finite(x) {
		s.sum += x
		return
	}
	s.high += s.sum/highUnit + x/highUnit
	s.sum = 0
}

func finite(x float64) bool { return x-x == 0 }

// Merge adds the values of another sum.
func (s *FloatSum) Merge(from *FloatSum) {
	s.plus(from.sum)
	s.high += from.high
	s.n += from.n
}

// Count is how many values there are.
func (s *FloatSum) Count() int64 { return s.n }

// Total is the sum, or with average its quotient by the number of values, of which there is one at least.
func (s *FloatSum) Total(average bool) float64 {
	total := s.sum
	if s.high != 0 && finite(s.sum) {
		total = (s.high + s.sum/highUnit) * highUnit
	}
	if average {
		return total / float64(s.n)
	}
	return total
}

// sumFloats adds in the order of the rows, as the rows do.
func sumFloats[T float32 | float64](states []FloatSum, values []T, in *grouped, rows []int32) {
	switch {
	case in.of == nil && rows == nil:
		s := states[0]
		for _, x := range values[:in.n] {
			s.plus(float64(x))
		}
		s.n += int64(in.n)
		states[0] = s
	case in.of == nil:
		s := states[0]
		for _, i := range rows {
			s.plus(float64(values[i]))
		}
		s.n += int64(len(rows))
		states[0] = s
	case rows == nil:
		of := in.of[:in.n]
		for i, x := range values[:len(of)] {
			states[of[i]].Add(float64(x))
		}
	default:
		for _, i := range rows {
			states[in.of[i]].Add(float64(values[i]))
		}
	}
}
