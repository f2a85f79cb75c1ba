//go:build darwin && !race

package arena

import "errors"

func mincore([]uint8, []byte) error { return errors.ErrUnsupported }
