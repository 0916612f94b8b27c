package v1alpha1

// EC2StorageSpec is what volumes an instance is launched with.
type EC2StorageSpec struct {
	// blockDeviceMappings are the volumes to launch with; an entry for the image's root device replaces what the image
	// says about it. Volumes are attached only at the launch, and kept as described. A volume that you remove from the
	// list stays in AWS, and Portico no longer manages it.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=24
	// +listType=map
	// +listMapKey=deviceName
	// +optional
	BlockDeviceMappings []EC2BlockDevice `json:"blockDeviceMappings,omitempty"`
}

// EC2BlockDevice is one volume.
// +kubebuilder:validation:XValidation:rule="!has(self.kmsKeyID) || !has(self.encrypted) || self.encrypted",message="kmsKeyID needs encrypted true, or left out"
// +kubebuilder:validation:XValidation:rule="!has(self.volumeType) || !self.volumeType.startsWith('io') || has(self.iops)",message="iops is required with io1 and io2"
// +kubebuilder:validation:XValidation:rule="!has(self.iops) || !has(self.volumeType) || self.volumeType in ['gp3', 'io1', 'io2']",message="iops needs volumeType gp3, io1 or io2"
// +kubebuilder:validation:XValidation:rule="!has(self.throughput) || !has(self.volumeType) || self.volumeType == 'gp3'",message="throughput needs volumeType gp3"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".volumeSize",rule="(oldSelf.hasValue() && (has(self.volumeType) ? self.volumeType : 'none') == (has(oldSelf.value().volumeType) ? oldSelf.value().volumeType : 'none') && (has(self.volumeSize) ? self.volumeSize : 0) == (has(oldSelf.value().volumeSize) ? oldSelf.value().volumeSize : 0) && (has(self.iops) ? self.iops : 0) == (has(oldSelf.value().iops) ? oldSelf.value().iops : 0) && (has(self.throughput) ? self.throughput : 0) == (has(oldSelf.value().throughput) ? oldSelf.value().throughput : 0)) || !has(self.volumeSize) || ((has(self.volumeType) ? self.volumeType : 'gp3') == 'gp2' ? self.volumeSize <= 16384 : (has(self.volumeType) ? self.volumeType : 'gp3') == 'io1' ? self.volumeSize >= 4 && self.volumeSize <= 16384 : (has(self.volumeType) ? self.volumeType : 'gp3') == 'io2' ? self.volumeSize >= 4 : (has(self.volumeType) ? self.volumeType : 'gp3') in ['st1', 'sc1'] ? self.volumeSize >= 125 && self.volumeSize <= 16384 : (has(self.volumeType) ? self.volumeType : 'gp3') != 'standard' || self.volumeSize <= 1024)",message="this volumeType has no volumes of this size: gp2 1 to 16,384 GiB, io1 4 to 16,384, io2 4 to 65,536, st1 and sc1 125 to 16,384, standard 1 to 1,024"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".iops",rule="(oldSelf.hasValue() && (has(self.volumeType) ? self.volumeType : 'none') == (has(oldSelf.value().volumeType) ? oldSelf.value().volumeType : 'none') && (has(self.volumeSize) ? self.volumeSize : 0) == (has(oldSelf.value().volumeSize) ? oldSelf.value().volumeSize : 0) && (has(self.iops) ? self.iops : 0) == (has(oldSelf.value().iops) ? oldSelf.value().iops : 0) && (has(self.throughput) ? self.throughput : 0) == (has(oldSelf.value().throughput) ? oldSelf.value().throughput : 0)) || !has(self.iops) || ((has(self.volumeType) ? self.volumeType : 'gp3') == 'gp3' ? self.iops >= 3000 && self.iops <= 80000 : (has(self.volumeType) ? self.volumeType : 'gp3') != 'io1' || self.iops <= 64000)",message="gp3 takes 3,000 to 80,000 operations, io1 100 to 64,000: change iops"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".iops",rule="(oldSelf.hasValue() && (has(self.volumeType) ? self.volumeType : 'none') == (has(oldSelf.value().volumeType) ? oldSelf.value().volumeType : 'none') && (has(self.volumeSize) ? self.volumeSize : 0) == (has(oldSelf.value().volumeSize) ? oldSelf.value().volumeSize : 0) && (has(self.iops) ? self.iops : 0) == (has(oldSelf.value().iops) ? oldSelf.value().iops : 0) && (has(self.throughput) ? self.throughput : 0) == (has(oldSelf.value().throughput) ? oldSelf.value().throughput : 0)) || !has(self.iops) || !has(self.volumeSize) || ((has(self.volumeType) ? self.volumeType : 'gp3') == 'gp3' ? self.iops <= 3000 || self.iops <= self.volumeSize * 500 : (has(self.volumeType) ? self.volumeType : 'gp3') == 'io1' ? self.iops <= self.volumeSize * 50 : (has(self.volumeType) ? self.volumeType : 'gp3') != 'io2' || self.iops <= self.volumeSize * 1000)",message="AWS takes at most 500 operations for each GiB of gp3, 50 of io1 and 1,000 of io2: lower iops, or raise volumeSize"
// +kubebuilder:validation:XValidation:optionalOldSelf=true,fieldPath=".throughput",rule="(oldSelf.hasValue() && (has(self.volumeType) ? self.volumeType : 'none') == (has(oldSelf.value().volumeType) ? oldSelf.value().volumeType : 'none') && (has(self.volumeSize) ? self.volumeSize : 0) == (has(oldSelf.value().volumeSize) ? oldSelf.value().volumeSize : 0) && (has(self.iops) ? self.iops : 0) == (has(oldSelf.value().iops) ? oldSelf.value().iops : 0) && (has(self.throughput) ? self.throughput : 0) == (has(oldSelf.value().throughput) ? oldSelf.value().throughput : 0)) || !has(self.throughput) || self.throughput * 4 <= (has(self.iops) ? self.iops : 3000)",message="gp3 gives at most a quarter of a MiB/s for each operation: raise iops to four times throughput, or lower throughput"
type EC2BlockDevice struct {
	// deviceName under which the volume is attached, such as /dev/sdf. The image tells which one is the root device:
	// /dev/xvda with Amazon Linux, /dev/sda1 with Ubuntu and Windows.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=32
	// +kubebuilder:validation:Pattern=`^(/dev/)?[a-z]+[0-9]*$`
	// +required
	DeviceName string `json:"deviceName"`
	// volumeSize in GiB. It can grow and never shrink below what there is. If left out, it is that of the snapshot or
	// the image.
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=65536
	// +optional
	VolumeSize *int32 `json:"volumeSize,omitempty"`
	// volumeType of the volume. If left out, it is launched as gp3.
	// +kubebuilder:validation:Enum=gp2;gp3;io1;io2;st1;sc1;standard
	// +optional
	VolumeType string `json:"volumeType,omitempty"`
	// iops is the provisioned number of input and output operations a second.
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=256000
	// +optional
	IOPS *int32 `json:"iops,omitempty"`
	// throughput of gp3 in MiB/s.
	// +kubebuilder:validation:Minimum=125
	// +kubebuilder:validation:Maximum=2000
	// +optional
	Throughput *int32 `json:"throughput,omitempty"`
	// encrypted false stores the data unencrypted, unless the account encrypts everything. If left out, it is
	// encrypted. Immutable once it is created.
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`
	// kmsKeyID encrypts the volume with this KMS key: its ID, ARN or alias. If left out, it is the account's default
	// key for EBS. Immutable once it is created.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=2048
	// +optional
	KMSKeyID string `json:"kmsKeyID,omitempty"`
	// deleteOnTermination true deletes the volume with the instance; false keeps it, without an owner. AWS's default is
	// true for the root device and false for others.
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`
	// snapshotID is the snapshot that the volume is created from. Immutable once it is created.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule="self.matches('^snap-[0-9a-z]+$')",message="a snapshot ID looks like snap-0123456789abcdef0"
	// +optional
	SnapshotID string `json:"snapshotID,omitempty"`
}
