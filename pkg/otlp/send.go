package otlp

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"stopgate/pkg/version"
)

// ErrTooLarge is returned for a request that the server takes only in smaller pieces.
var ErrTooLarge = errors.New("request is too large for the endpoint")

// LaterError is a failure that passes: the same request can be sent again.
type LaterError struct {
	// After is how long the server asks to wait; 0 where it does not say.
	After time.Duration
	Err   error
}

func (e *LaterError) Error() string { return e.Err.Error() }

// Unwrap gives what failed.
func (e *LaterError) Unwrap() error { return e.Err }

// Rejected is what the server took a request without: a partial success. It is not
// to be sent again.
type Rejected struct {
	Items int64
	// Text is the server's, which may be anything.
	Text string
}

// Poster sends one signal's requests.
type Poster struct {
	target Target
	client *http.Client
}

// NewPoster is a poster to a target. It fails where certificates cannot be read.
func NewPoster(t Target) (*Poster, error) {
	client, err := t.client()
	if err != nil {
		return nil, err
	}
	return &Poster{t, client}, nil
}

// maxAnswer is how much of an answer is read, maxAfter the longest wait that a server
// is obeyed in.
const (
	maxAnswer = 64 << 10
	maxAfter  = 10 * time.Minute
)

// Post sends one request. A [*LaterError] can be tried again with the same request,
// [ErrTooLarge] with parts of it; with any other error it was refused.
func (p *Poster) Post(ctx context.Context, message any) (Rejected, error) {
	body, kind, err := p.body(message)
	if err != nil {
		return Rejected{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.target.URL, bytes.NewReader(body))
	if err != nil {
		return Rejected{}, errors.New("endpoint: not an address")
	}
	req.Header.Set("User-Agent", "OTel-OTLP-Exporter-stopgate/"+version.Number())
	for name, value := range p.target.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", kind)
	if p.target.Gzip {
		req.Header.Set("Content-Encoding", "gzip")
	}
	resp, err := p.client.Do(req)
	if err != nil {
		return Rejected{}, &LaterError{Err: fmt.Errorf("%s: %w", p.target.Shown(), withoutURL(err))}
	}
	defer resp.Body.Close() //nolint:errcheck // only read
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if err != nil && resp.StatusCode/100 == 2 {
		// Whether it was taken is told by the status, but a proxy may have died in between.
		return Rejected{}, &LaterError{Err: fmt.Errorf("%s: %w", p.target.Shown(), err)}
	}
	return p.judge(resp, answer)
}

// withoutURL is an error of the client without the address, which can hold a password.
func withoutURL(err error) error {
	if inner := errors.Unwrap(err); inner != nil {
		return inner
	}
	return err
}

func (p *Poster) body(message any) (body []byte, kind string, err error) {
	if kind = "application/x-protobuf"; p.target.JSON {
		kind = "application/json"
		body, err = JSON(message)
	} else {
		body = Protobuf(message)
	}
	if err != nil || !p.target.Gzip {
		return body, kind, err
	}
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, err = w.Write(body)
	err = errors.Join(err, w.Close()) // before the bytes are taken: it writes the last of them
	return b.Bytes(), kind, err
}

// judge tells what an answer means, by the protocol's table.
func (p *Poster) judge(resp *http.Response, answer []byte) (Rejected, error) {
	said := p.target.Shown() + " answered " + resp.Status
	if text := reason(resp, answer); text != "" {
		said += ": " + text
	}
	err := errors.New(said)
	switch resp.StatusCode {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return Rejected{}, &LaterError{After: retryAfter(resp.Header.Get("Retry-After"), time.Now()), Err: err}
	case http.StatusRequestEntityTooLarge:
		return Rejected{}, fmt.Errorf("%w: %w", ErrTooLarge, err)
	}
	if resp.StatusCode/100 != 2 {
		return Rejected{}, err
	}
	return partial(resp, answer), nil
}

// reason is the first line of an answer in words.
func reason(resp *http.Response, answer []byte) string {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/plain") {
		return ""
	}
	line, _, _ := strings.Cut(strings.TrimSpace(string(answer)), "\n")
	return strconv.QuoteToASCII(line[:min(len(line), 200)])
}

// retryAfter reads the header of that name: seconds or a date.
func retryAfter(text string, now time.Time) time.Duration {
	if s, err := strconv.ParseUint(text, 10, 31); err == nil {
		return min(time.Duration(s)*time.Second, maxAfter) //nolint:gosec // 31 bits
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(0, at.Sub(now)), maxAfter)
	}
	return 0
}

// partial reads what a server took a request without.
func partial(resp *http.Response, answer []byte) Rejected {
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") {
		return partialProtobuf(answer)
	}
	var said struct {
		Partial map[string]json.RawMessage `json:"partialSuccess"`
	}
	var r Rejected
	if json.Unmarshal(answer, &said) != nil {
		return r
	}
	for name, value := range said.Partial {
		if strings.HasPrefix(name, "rejected") {
			r.Items, _ = strconv.ParseInt(strings.Trim(string(value), `"`), 10, 64)
		} else if name == "errorMessage" {
			_ = json.Unmarshal(value, &r.Text) // "" where it is none
		}
	}
	return r
}

// partialProtobuf does so for the other form: field 1 of the answer, with the number
// in its field 1 and the text in 2, for each signal alike.
func partialProtobuf(answer []byte) (r Rejected) {
	each(answer, func(num protowire.Number, _ uint64, inner []byte) {
		if num != 1 {
			return
		}
		each(inner, func(num protowire.Number, n uint64, text []byte) {
			switch {
			case num == 1 && n <= math.MaxInt64:
				r.Items = int64(n)
			case num == 2: //nolint:mnd // the field's number
				r.Text = string(text)
			}
		})
	})
	return r
}

// each goes through a message's fields, as far as it is one.
func each(b []byte, found func(num protowire.Number, n uint64, bytes []byte)) {
	for len(b) > 0 {
		num, kind, size := protowire.ConsumeTag(b)
		if size < 0 {
			return
		}
		b = b[size:]
		var n uint64
		var inner []byte
		switch kind {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.BytesType:
			inner, size = protowire.ConsumeBytes(b)
		default:
			size = protowire.ConsumeFieldValue(num, kind, b)
		}
		if size < 0 {
			return
		}
		found(num, n, inner)
		b = b[size:]
	}
}
