package awsproxy

import (
	"net/http"
	"net/url"
	"slices"
	"time"
)

// storageCooldown is how long after a change of its storage an instance takes no other one: "Working with storage for
// Amazon RDS DB instances" in the User Guide. Meanwhile it may be "available" all the same.
const storageCooldown = 6 * time.Hour

// storageParameters are those of ModifyDBInstance that change the storage.
var storageParameters = []string{"AllocatedStorage", "Iops", "StorageThroughput", "StorageType"}

// SetStorageCooldown sets how long RDS takes no other change of the storage of
// an instance, also of one made before: 6 h unless set; 0 means not at all.
func (p *Proxy) SetStorageCooldown(d time.Duration) {
	p.databases.mu.Lock()
	defer p.databases.mu.Unlock()
	p.databases.cooldown = d
}

// cooling refuses a change of the storage while RDS may still be at the last one.
func (s *rdsService) cooling(x *exchange, id string, is []byte) *reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.extra(id).storageChanged
	if changed.IsZero() || !s.now().Before(changed.Add(s.cooldown)) || !changesStorage(x.form, is) {
		return nil
	}
	return x.fail(http.StatusBadRequest, "InvalidParameterCombination",
		"You can't currently modify the storage of this DB instance because the previous storage change is being optimized.")
}

// storageChanged notes that the storage is being changed.
func (s *rdsService) storageChanged(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra(id).storageChanged = s.now()
}

// changesStorage reports whether a call asks for other storage than there is.
func changesStorage(form url.Values, is []byte) bool {
	return slices.ContainsFunc(storageParameters, func(name string) bool {
		return form.Has(name) && form.Get(name) != element(is, name)
	})
}
