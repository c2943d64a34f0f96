package ledger

import "time"

var bucketNotices = []byte("notices")

// given is the row of a notice.
type given struct {
	At time.Time `json:"at"`
}

// Notice tells whether nobody gave this notice to a person before, and keeps that it is
// given now: of several processes one is told true. A key that cannot be kept counts as
// given.
func (t *Tx) Notice(key string) bool {
	if _, was := get[given](t.tx, bucketNotices, key); was || !storable(key) {
		return false
	}
	t.bound(bucketNotices, key)
	t.put(bucketNotices, []byte(key), given{t.now})
	return t.err == nil
}
