package transcript

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/tidwall/gjson"

	"stopgate/pkg/host"
)

// maxInbox and maxMail bound what is read of an inbox: bytes, and entries.
const (
	maxInbox = 4 << 20
	maxMail  = 20000
)

// Mail is one entry of a teammate's inbox file (docs/client.md: teams), without
// its text.
type Mail struct {
	// At is when it was sent; zero where the entry has no time.
	At time.Time
	// Read tells that the client has given it to the teammate.
	Read bool
	// Idle marks the news that a teammate waits for work: it asks for nothing.
	Idle bool
}

// Inbox reads an inbox file. It is an error where the file is none, is no list,
// or is longer than 4 MB: another writes it, and may be in the middle of it.
func Inbox(files host.Files, path string) ([]Mail, error) {
	data, err := files.ReadSmall(path, maxInbox+1)
	switch {
	case err != nil:
		return nil, err
	case len(data) > maxInbox:
		return nil, fmt.Errorf("%s: more than %d MB", path, maxInbox>>20)
	case !json.Valid(data): // bounds the depth, too
		return nil, fmt.Errorf("%s: no JSON", path)
	}
	list := gjson.ParseBytes(data)
	if !list.IsArray() {
		return nil, fmt.Errorf("%s: no list", path)
	}
	var mail []Mail
	list.ForEach(func(_, entry gjson.Result) bool {
		if entry.IsObject() && entry.Get("text").Type == gjson.String {
			mail = append(mail, mailOf(entry))
		}
		return len(mail) < maxMail
	})
	return mail, nil
}

func mailOf(entry gjson.Result) Mail {
	m := Mail{Read: entry.Get("read").Type == gjson.True}
	m.At, _ = time.Parse(time.RFC3339, str(entry.Get("timestamp"))) // what cannot be read is no time
	text := entry.Get("text").Str
	m.Idle = len(text) > 0 && text[0] == '{' && str(gjson.Get(text, "type")) == "idle_notification"
	return m
}
