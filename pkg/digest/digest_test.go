package digest

import (
	"encoding/hex"
	"testing"
)

// Names in state folders must stay what they are, on every machine.
func TestADigestIsTheSameWhereverAndWhenever(t *testing.T) {
	t.Parallel()
	key := [Size]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}
	// The first two are those of the paper's reference code for the empty text and for
	// the bytes 0 to 14.
	for name, test := range map[string]struct {
		got  [Size]byte
		want string
	}{
		"nothing, with the paper's key":  {Keyed(key, nil), "a3817f04ba25a8e66df67214c7550293"},
		"15 bytes, with the paper's key": {Keyed(key, key[:15]), "5493e99933b0a8117e08ec0f97cfc3d9"},
	} {
		if got := hex.EncodeToString(test.got[:]); got != test.want {
			t.Errorf("%s: %s, want %s", name, got, test.want)
		}
	}
	if Of([]byte("a")) == Of([]byte("b")) || Of([]byte("a")) == Keyed(key, []byte("a")) {
		t.Error("different bytes, or keys, have one digest")
	}
}
