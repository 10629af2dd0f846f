package check

// The symptoms that users notice before they know the problem.
const (
	SearchesSlow  = "Searches are slow"
	SearchesFail  = "Searches fail"
	SearchesStale = "Searches miss rows or return old ones"
	LoadsHang     = "A collection does not load"
	WritesFail    = "Writes are slow or fail"
	FlushesHang   = "Flushes and checkpoints do not advance"
	MemoryFull    = "Memory is full"
	IndexingHangs = "Indexing does not finish"
	TasksHang     = "Compactions or imports do not finish"
	EtcdSlow      = "etcd grows or is slow"
	StorageGrows  = "Storage grows"
	AfterUpgrade  = "After an upgrade or a rollback"
	AfterRestart  = "After a restart or the loss of a node"
	Leftovers     = "Leftovers of dropped collections"
)

// Symptoms returns all symptoms, the most frequent first.
func Symptoms() []string {
	return []string{
		SearchesSlow, SearchesFail, SearchesStale, LoadsHang, WritesFail, FlushesHang, MemoryFull,
		IndexingHangs, TasksHang, EtcdSlow, StorageGrows, AfterUpgrade, AfterRestart,
		Leftovers,
	}
}
