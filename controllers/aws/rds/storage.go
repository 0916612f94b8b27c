package rds

import (
	"github.com/aws/aws-sdk-go-v2/aws"

	"github.com/portico-platform/portico/api/v1alpha1"
	"github.com/portico-platform/portico/controllers/external"
)

// isStorageChange reports whether the setting is one of the storage.
func isStorageChange(c external.Change) bool { return c.Together == storageTogether }

// completeStorage adds the other settings of the storage: the declared ones; the current size, if AWS has enlarged it;
// and the provisioned values of the storage, without which RDS refuses to change it.
func completeStorage(obj *v1alpha1.RDSInstance, seen *instanceState, in *input) {
	for _, s := range settings {
		if value, declared := s.Want(obj); declared && s.Together == storageTogether {
			s.set(in, value, seen)
		}
	}
	p, db := seen.pending(), &seen.db
	in.AllocatedStorage = aws.Int32(max(aws.ToInt32(in.AllocatedStorage), aws.ToInt32(p.AllocatedStorage),
		aws.ToInt32(db.AllocatedStorage)))
	kind := firstString(in.StorageType, p.StorageType, db.StorageType)
	least, provisions := provisioning(obj.Spec.Engine, kind, *in.AllocatedStorage)
	if !provisions {
		return
	}
	if in.Iops == nil {
		in.Iops = atLeast(least.iops, external.FirstSet(p.Iops, db.Iops))
	}
	if in.StorageThroughput == nil && kind == "gp3" {
		in.StorageThroughput = atLeast(least.throughput, external.FirstSet(p.StorageThroughput, db.StorageThroughput))
	}
}

// baseline is the minimum that RDS accepts, and gives to storage without provisioned values.
type baseline struct{ iops, throughput int32 }

// provisioning reports whether storage of this type and size can have provisioned operations. gp3 needs a minimum size
// for that, which depends on the engine; below it RDS refuses them. The numbers are those of "Amazon RDS DB instance
// storage" in the User Guide.
func provisioning(engineName, storageType string, size int32) (least baseline, provisions bool) {
	switch storageType {
	case "io1", "io2":
		return baseline{}, true
	case "gp3":
	default:
		return baseline{}, false
	}
	striped := int32(400)
	switch family(engineName) {
	case "sqlserver":
		return baseline{iops: 3000, throughput: 125}, true
	case "oracle":
		striped = 200
	}
	return baseline{iops: 12000, throughput: 500}, size >= striped
}

// atLeast returns the larger of n and least; nil if there is neither.
func atLeast(least int32, n *int32) *int32 {
	if more := max(least, aws.ToInt32(n)); more > 0 {
		return &more
	}
	return nil
}

// roundedUp reports whether have is want as RDS rounds it up: provisioned operations must grow by at least a tenth.
func roundedUp(have, want string) bool {
	h, w := int64(aws.ToInt32(external.ParseInt(have))), int64(aws.ToInt32(external.ParseInt(want)))
	return w <= h && h*10 <= w*11
}

// splitStorage separates the changes of the storage from all others.
func splitStorage(changes []external.Change) (others, storage []external.Change) {
	for _, c := range changes {
		if isStorageChange(c) {
			storage = append(storage, c)
		} else {
			others = append(others, c)
		}
	}
	return others, storage
}
