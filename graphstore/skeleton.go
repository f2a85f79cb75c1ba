package graphstore

import (
	"context"
	"errors"
	"iter"

	"github.com/lightctl/lightrag/format"
)

var errSkeleton = errors.New("under construction")

type Store struct{ ident format.Identity }
type View struct{}
type Prepared struct{ roots []*Root }

func Open(dir string, o Options) (*Store, error) { return nil, errSkeleton }
func (s *Store) Close() error                    { return errSkeleton }
func (s *Store) Identity() format.Identity       { return s.ident }
func (s *Store) Health() error                   { return errSkeleton }
func (s *Store) Register(ctx context.Context, docs []NewDocument) ([]RegisterResult, error) {
	return nil, errSkeleton
}
func (s *Store) SetStatus(ctx context.Context, doc DocID, status format.DocumentStatus, cause string, failedChunks uint32) error {
	return errSkeleton
}
func (s *Store) Pending(v *View) ([]DocID, error) { return nil, errSkeleton }
func (s *Store) Prepare(ctx context.Context, c Contribution) (*Prepared, error) {
	return nil, errSkeleton
}
func (p *Prepared) Roots() []*Root { return p.roots }
func (s *Store) Commit(ctx context.Context, p *Prepared) (CommitInfo, error) {
	return CommitInfo{}, errSkeleton
}
func (s *Store) Delete(ctx context.Context, docs []DocID, o DeleteOptions) (DeleteInfo, error) {
	return DeleteInfo{}, errSkeleton
}
func (s *Store) Stale(max int) ([]StaleRoot, error) { return nil, errSkeleton }
func (s *Store) Refresh(ctx context.Context, r []Refreshed) (RefreshInfo, error) {
	return RefreshInfo{}, errSkeleton
}
func (s *Store) Answer(key [32]byte) (format.Answer, bool, error) {
	return format.Answer{}, false, errSkeleton
}
func (s *Store) PutAnswer(key [32]byte, a format.Answer) error           { return errSkeleton }
func (s *Store) DeleteAnswers(keys ...[32]byte) error                    { return errSkeleton }
func (s *Store) AnswerStats() (AnswerStats, error)                       { return AnswerStats{}, errSkeleton }
func (s *Store) ClearAnswers() error                                     { return errSkeleton }
func (s *Store) Meta(name string) ([]byte, bool, error)                  { return nil, false, errSkeleton }
func (s *Store) SetMeta(name string, value []byte) error                 { return errSkeleton }
func (s *Store) View() (*View, error)                                    { return nil, errSkeleton }
func (s *Store) Stats() Stats                                            { return Stats{} }
func (s *Store) Check(ctx context.Context, deep bool) ([]Finding, error) { return nil, errSkeleton }
func (s *Store) Backup(ctx context.Context, dst string) error            { return errSkeleton }

func (v *View) Close()                                             {}
func (v *View) Seq() uint64                                        { return 0 }
func (v *View) Counts() Counts                                     { return Counts{} }
func (v *View) Bound(kind Kind) uint32                             { return 0 }
func (v *View) FindEntity(name string) (EntityID, bool, error)     { return 0, false, errSkeleton }
func (v *View) FindRelation(a, b string) (RelationID, bool, error) { return 0, false, errSkeleton }
func (v *View) FindPair(a, b EntityID) (RelationID, bool, error)   { return 0, false, errSkeleton }
func (v *View) EntityName(id EntityID) string                      { return "" }
func (v *View) EntityLive(id EntityID) bool                        { return false }
func (v *View) RelationLive(id RelationID) bool                    { return false }
func (v *View) ChunkLive(id ChunkID) bool                          { return false }
func (v *View) Degree(id EntityID) int                             { return 0 }
func (v *View) Neighbors(id EntityID) []Neighbor                   { return nil }
func (v *View) Ends(id RelationID) (a, b EntityID)                 { return 0, 0 }
func (v *View) Weight(id RelationID) int64                         { return 0 }
func (v *View) LineTokens(kind Kind, owner uint32) int             { return 0 }
func (v *View) Sources(kind Kind, owner uint32) []ChunkID          { return nil }
func (v *View) Slot(kind Kind, owner uint32) (uint32, bool)        { return 0, false }
func (v *View) Sole(kind Kind, owner uint32) (DocID, bool)         { return 0, false }
func (v *View) EntityRecords(ids []EntityID, dst []format.Record) ([]format.Record, error) {
	return nil, errSkeleton
}
func (v *View) RelationRecords(ids []RelationID, dst []format.Record) ([]format.Record, error) {
	return nil, errSkeleton
}
func (v *View) Chunks(ids []ChunkID, dst []Chunk) ([]Chunk, error) { return nil, errSkeleton }
func (v *View) ChunkPlace(id ChunkID) (DocID, uint32)              { return 0, 0 }
func (v *View) Document(doc DocID) (format.Document, error)        { return format.Document{}, errSkeleton }
func (v *View) FindDocument(id string) (DocID, format.Document, bool, error) {
	return 0, format.Document{}, false, errSkeleton
}
func (v *View) Documents(fn func(DocID, format.Document) error) error { return errSkeleton }
func (v *View) DocumentChunks(doc DocID) ([]Chunk, error)             { return nil, errSkeleton }
func (v *View) DocumentOwners(doc DocID) (format.DocumentOwners, error) {
	return format.DocumentOwners{}, errSkeleton
}
func (v *View) Entities() iter.Seq[EntityID]    { return func(func(EntityID) bool) {} }
func (v *View) Relations() iter.Seq[RelationID] { return func(func(RelationID) bool) {} }
func (v *View) ChunkIDs() iter.Seq[ChunkID]     { return func(func(ChunkID) bool) {} }
func (v *View) Fragments(kind Kind, owner uint32, fn func(FragmentKey, *format.Fragment) error) error {
	return errSkeleton
}
func (v *View) AllSources(kind Kind, owner uint32) ([]ChunkID, error) { return nil, errSkeleton }
