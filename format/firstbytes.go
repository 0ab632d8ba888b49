package format

// ByteOrderMark is UTF-8's, which a text file may begin with.
const ByteOrderMark = "\xEF\xBB\xBF"

const isUTF16 = "the file begins with a UTF-16 byte-order mark, and it is read as UTF-8: encoding => 'UTF-16' reads it"

// TextStart says where the text of a file begins that has these first bytes, at least three where it has as many: behind UTF-8's
// byte-order mark. UTF-16 is an *Error.
func TextStart(head []byte) (int, error) {
	if len(head) >= 3 && string(head[:3]) == ByteOrderMark {
		return 3, nil
	}
	if len(head) >= 2 && (head[0] == 0xFF && head[1] == 0xFE || head[0] == 0xFE && head[1] == 0xFF) {
		return 0, &Error{Line: 1, Message: isUTF16}
	}
	return 0, nil
}
