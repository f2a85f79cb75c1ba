package llm

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cenkalti/backoff/v5"
)

// retryPolicy says how often and how long after one another a call is tried.
type retryPolicy struct {
	tries    int           // attempts in all, at least 1
	min, max time.Duration // first and longest back-off, jittered by a half
	waitMax  time.Duration // longest wait a server may ask for
	log      *slog.Logger
	what     string // for messages: operation and model
}

// pacing is an exponential back-off that never comes back earlier than the
// server asked, and stops when a wait is longer than allowed or than the
// context lives: the error in hand is then worth more than a timeout later.
type pacing struct {
	backoff.ExponentialBackOff
	ctx     context.Context
	waitMax time.Duration
	last    error
}

func (p *pacing) NextBackOff() time.Duration {
	d := p.ExponentialBackOff.NextBackOff()
	if after := retryAfter(p.last); after > p.waitMax {
		return backoff.Stop
	} else if after > d {
		d = after
	}
	if end, ok := p.ctx.Deadline(); ok && time.Until(end) <= d {
		return backoff.Stop
	}
	return d
}

// retry runs op until it succeeds, fails for good, or the policy or the context
// ends. The value of the last attempt is returned with its error. The error
// names the attempts when there was more than one.
func retry[T any](ctx context.Context, p retryPolicy, op func() (T, error)) (T, error) {
	pace := &pacing{
		ExponentialBackOff: backoff.ExponentialBackOff{
			InitialInterval: p.min, MaxInterval: p.max, Multiplier: 2, RandomizationFactor: 0.5,
		},
		ctx: ctx, waitMax: p.waitMax,
	}
	tries := 0
	v, err := backoff.Retry(ctx, func() (T, error) {
		tries++
		v, err := op()
		pace.last = err
		if err != nil && !retryable(err) {
			return v, backoff.Permanent(err)
		}
		return v, err
	},
		backoff.WithBackOff(pace),
		backoff.WithMaxTries(uint(p.tries)),
		backoff.WithMaxElapsedTime(0),
		backoff.WithNotify(func(err error, wait time.Duration) {
			p.log.LogAttrs(ctx, slog.LevelWarn, "llm: trying again",
				slog.String("call", p.what), slog.Int("attempt", tries),
				slog.Duration("wait", wait), slog.String("error", err.Error()))
		}))
	if err == nil {
		return v, nil
	}
	var permanent *backoff.PermanentError
	if errors.As(err, &permanent) { // also on the last try, which Retry returns as it is
		err = permanent.Err
	}
	if cause := context.Cause(ctx); cause != nil && pace.last != nil && !errors.Is(pace.last, cause) {
		err = fmt.Errorf("%w; before that: %w", cause, pace.last)
	}
	if tries > 1 {
		return v, fmt.Errorf("llm: %s: after %d attempts: %w", p.what, tries, err)
	}
	return v, fmt.Errorf("llm: %s: %w", p.what, err)
}

// finalError marks an error that must not be retried whatever its cause.
type finalError struct{ error }

func (e finalError) Unwrap() error { return e.error }

// retryable reports whether trying again may help.
func retryable(err error) bool {
	var final finalError
	var cert *tls.CertificateVerificationError
	if errors.As(err, &final) || errors.As(err, &cert) ||
		errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return false
	}
	var status *StatusError
	if errors.As(err, &status) {
		return status.retryable()
	}
	return errors.Is(err, ErrUnavailable) || errors.Is(err, ErrBadResponse) || errors.Is(err, ErrStreamCut)
}

// retryAfter is the wait a server asked for with err.
func retryAfter(err error) time.Duration {
	var status *StatusError
	if errors.As(err, &status) {
		return status.RetryAfter
	}
	return 0
}
