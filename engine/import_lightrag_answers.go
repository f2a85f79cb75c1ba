package engine

import (
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// cachedAnswer is an extraction answer of the directory's cache.
type cachedAnswer struct {
	text    span
	created int64
	seq     int32 // place in the file
	glean   bool  // it is known to be of a gleaning call
	listed  bool  // the chunk lists it
}

// looseAnswer is one whose chunk is to be found by what it says.
type looseAnswer struct {
	key string
	cachedAnswer
}

// cacheRow is a row of the answer cache: flat, one level down by mode, or in
// the form of nano-graphrag, which has an answer and a model only.
type cacheRow struct {
	Return  *string         `json:"return"`
	Type    *string         `json:"cache_type"`
	Chunk   *string         `json:"chunk_id"`
	Prompt  *string         `json:"original_prompt"`
	Created json.RawMessage `json:"create_time"`
}

// readAnswers reads the cached extraction answers and finds their chunks: by
// the lists of the chunks, by the chunk that a row names, or by the text of
// the chunk in the prompt. What is left waits for matchAnswers.
func (im *lightragImport) readAnswers() error {
	index := indexPrints(im.chunks)
	seq := int32(0)
	one := func(key string, b []byte) error {
		var row cacheRow
		if err := json.Unmarshal(b, &row); err != nil || row.Return == nil {
			im.issues.add("row malformed", answersFile, key, "no answer")
			return nil
		}
		seq++
		if row.Type != nil && *row.Type != "extract" {
			return nil
		}
		a := cachedAnswer{created: number(row.Created, 0), seq: seq}
		chunk, ok := im.cacheKeys[key]
		if !ok {
			if i := strings.LastIndexByte(key, ':'); i >= 0 {
				chunk, ok = im.cacheKeys[key[i+1:]]
			}
		}
		a.listed = ok
		if !ok && row.Chunk != nil {
			chunk, ok = im.chunkAt[*row.Chunk]
		}
		if !ok && row.Prompt != nil {
			chunk, a.glean, ok = index.ofPrompt(*row.Prompt)
		}
		if !ok && row.Type == nil && !usableAnswer(*row.Return) {
			return nil // of a question, or a summary
		}
		var err error
		if a.text, err = im.spill.put([]byte(*row.Return)); err != nil {
			return stop(err)
		}
		if ok {
			im.chunks[chunk].answers = append(im.chunks[chunk].answers, a)
		} else {
			im.loose = append(im.loose, looseAnswer{key, a})
		}
		return nil
	}
	return im.file(answersFile, func(r io.Reader) (int, error) {
		_, err := im.rows(answersFile, r, func(key string, s *jsonStream) error { return im.cacheRow(key, s, one) })
		return int(seq), err
	})
}

// cacheRow reads the value of a key: a row, or the rows of a mode.
func (im *lightragImport) cacheRow(key string, s *jsonStream, fn func(key string, row []byte) error) error {
	fields := []byte("{")
	long := false
	err := s.object(func(name string) error {
		c, err := s.peek()
		if err != nil {
			return err
		}
		value, err := s.raw(nil, maxImportRow)
		if errors.Is(err, errTooLong) {
			long = true
			return nil
		}
		if err != nil {
			return err
		}
		switch {
		case c == '{' && name != "queryparam":
			return fn(name, value)
		case name == "return" || name == "cache_type" || name == "chunk_id" || name == "original_prompt" || name == "create_time":
			if len(fields) > 1 {
				fields = append(fields, ',')
			}
			fields = append(append(append(append(fields, '"'), name...), '"', ':'), value...)
		}
		return nil
	})
	if long {
		im.issues.add("row malformed", answersFile, key, errTooLong.Error())
	}
	if err != nil || len(fields) == 1 {
		return err
	}
	return fn(key, append(fields, '}'))
}
