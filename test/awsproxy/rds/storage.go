package rds

import (
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/portico-platform/portico/test/awsproxy/wire"
)

// storageCooldown is how long after a change of its storage an instance accepts no other one: "Working with storage
// for Amazon RDS DB instances" in the User Guide. During that time it may be "available" nevertheless.
const storageCooldown = 6 * time.Hour

// storageParameters are the parameters of ModifyDBInstance that change the storage.
var storageParameters = []string{"AllocatedStorage", "Iops", "StorageThroughput", "StorageType"}

// SetStorageCooldown sets how long RDS refuses another change of an instance's storage, also after earlier changes: 6
// h unless set; 0 means not at all.
func (s *Service) SetStorageCooldown(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cooldown = d
}

// cooling refuses a change of the storage during the cooldown.
func (s *Service) cooling(x *wire.Exchange, id string, is []byte) *wire.Reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := s.extra(id).storageChanged
	if changed.IsZero() || !s.now().Before(changed.Add(s.cooldown)) || !changesStorage(x.Form, is) {
		return nil
	}
	return x.Fail(http.StatusBadRequest, "InvalidParameterCombination",
		"You can't currently modify the storage of this DB instance because the previous storage change is being "+
			"optimized.")
}

// storageChanged records that the storage is being changed.
func (s *Service) storageChanged(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.extra(id).storageChanged = s.now()
}

// changesStorage reports whether a call requests other storage than the instance has.
func changesStorage(form url.Values, is []byte) bool {
	return slices.ContainsFunc(storageParameters, func(name string) bool {
		return form.Has(name) && form.Get(name) != wire.Element(is, name)
	})
}
