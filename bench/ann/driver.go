package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
)

// driver is a peer in a process of its own, which takes one command a line and answers each with one line of
// JSON (see peers/cc/driver.h). Row numbers come in a file.
type driver struct {
	title, release string
	ids            string
	cmd            *exec.Cmd
	in             io.WriteCloser
	out            *bufio.Reader
}

// greeting is the first line of a driver.
type greeting struct {
	Peer    string `json:"peer"`
	Version string `json:"version"`
	Error   string `json:"error"`
}

// startDriver starts a peer on a data file.
func startDriver(ctx context.Context, program, data, ids string, cpu int) (*driver, error) {
	d := &driver{ids: ids}
	d.cmd = exec.CommandContext(ctx, program, data, ids, fmt.Sprint(cpu))
	d.cmd.Stderr = os.Stderr
	var err error
	if d.in, err = d.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	out, err := d.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	d.out = bufio.NewReader(out)
	if err := d.cmd.Start(); err != nil {
		return nil, err
	}
	var hello greeting
	if err := d.answer(&hello); err != nil {
		return nil, errors.Join(err, d.close())
	}
	d.title, d.release = hello.Peer, hello.Version
	return d, nil
}

func (d *driver) name() string    { return d.title }
func (d *driver) version() string { return d.release }

func (d *driver) build(rows int, seed uint64, threads int) (b built, err error) {
	err = d.ask(&b, "build %d %d %d %d %d", rows, seed, threads, graphM, efConstruction)
	return b, err
}

func (d *driver) search(s search) (t timing, ids []int32, err error) {
	if err := d.ask(&t, "search %d %d %d %d %d", topK, s.ef, s.threads, s.atLeast.Nanoseconds(), s.queries); err != nil {
		return t, nil, err
	}
	b, err := os.ReadFile(d.ids)
	if err != nil {
		return t, nil, err
	}
	if len(b) != 4*topK*s.queries {
		return t, nil, fmt.Errorf("%s: %d bytes of row numbers for %d queries", d.title, len(b), s.queries)
	}
	ids = make([]int32, len(b)/4)
	for i := range ids {
		ids[i] = int32(binary.NativeEndian.Uint32(b[4*i:]))
	}
	return t, ids, nil
}

// ask sends a command and decodes its answer.
func (d *driver) ask(answer any, format string, args ...any) error {
	if _, err := fmt.Fprintf(d.in, format+"\n", args...); err != nil {
		return fmt.Errorf("%s: %w", d.title, err)
	}
	if err := d.answer(answer); err != nil {
		return fmt.Errorf("%s: %w", d.title, err)
	}
	return nil
}

func (d *driver) answer(v any) error {
	line, err := d.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("the driver ended: %w", err)
	}
	return decodeAnswer(line, v)
}

func decodeAnswer(line []byte, v any) error {
	var failed greeting
	if err := json.Unmarshal(line, &failed); err != nil {
		return fmt.Errorf("answer %q: %w", line, err)
	}
	if failed.Error != "" {
		return errors.New(failed.Error)
	}
	return json.Unmarshal(line, v)
}

func (d *driver) close() error {
	d.in.Close()
	return d.cmd.Wait()
}
