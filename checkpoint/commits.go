package checkpoint

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
)

// CommitLog is commits/: the batches that are in the table.
type CommitLog struct{ log }

// Read returns the watermark that batch id reached, epoch ms.
func (l *CommitLog) Read(ctx context.Context, id int64) (watermarkMs int64, err error) {
	lines, err := l.read(ctx, id)
	if err != nil {
		return 0, err
	}
	watermarkMs, err = decodeCommit(lines)
	if err != nil {
		return 0, l.bad(id, Damaged, err)
	}
	return watermarkMs, nil
}

// Add records that batch id is finished; it must follow the newest. watermarkMs is for the batches behind it, 0 when there is none. Kind
// Concurrent when another process has written it.
func (l *CommitLog) Add(ctx context.Context, id, watermarkMs int64) error {
	return l.add(ctx, id, encodeCommit(watermarkMs))
}

func encodeCommit(watermarkMs int64) []byte {
	return []byte("v1\n" + `{"nextBatchWatermarkMs":` + strconv.FormatInt(watermarkMs, 10) + "}")
}

// decodeCommit reads the lines behind the version. Old files have an empty object there, or nothing.
func decodeCommit(lines []string) (watermarkMs int64, err error) {
	if len(lines) == 0 {
		return 0, nil
	}
	var m struct{ NextBatchWatermarkMs int64 }
	if err := json.Unmarshal([]byte(lines[0]), &m); err != nil {
		return 0, fmt.Errorf("the metadata in line 2 is %s: %w", excerpt(lines[0]), err)
	}
	return m.NextBatchWatermarkMs, nil
}
