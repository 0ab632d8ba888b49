package files

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// splitURI takes a file's URI apart into that of its folder and its decoded name.
func splitURI(uri string) (folder, name string, err error) {
	i := strings.LastIndexByte(uri, '/')
	if i < 0 {
		return "", "", fmt.Errorf("%q is no absolute URI", uri)
	}
	if name, err = url.PathUnescape(uri[i+1:]); err != nil {
		return "", "", fmt.Errorf("%q: %w", uri, err)
	}
	return uri[:i], name, nil
}

// partitionValue is a key=value folder of a file's path.
type partitionValue struct {
	name  string
	value string
	null  bool
	// rescued says that it is not of its column's type, and the column of rescued data takes it.
	rescued bool
}

// hivePartitionNull is the folder's value for NULL, as Hive and Spark write it.
const hivePartitionNull = "__HIVE_DEFAULT_PARTITION__"

// partitions returns the key=value folders in the path of a file, from the outermost on. Hive's %XX in them is decoded.
func partitions(uri string) ([]partitionValue, error) {
	var out []partitionValue
	dir := path.Dir(uri)
	for _, segment := range strings.Split(dir, "/") {
		folder, err := url.PathUnescape(segment)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", uri, err)
		}
		name, value, ok := strings.Cut(folder, "=")
		if !ok || name == "" {
			continue
		}
		p := partitionValue{name: unescapeHive(name), value: unescapeHive(value)}
		p.null = p.value == hivePartitionNull || p.value == ""
		out = append(out, p)
	}
	return out, nil
}

// unescapeHive decodes %XX; what is no such code stays.
func unescapeHive(text string) string {
	if decoded, err := url.PathUnescape(text); err == nil {
		return decoded
	}
	return text
}
