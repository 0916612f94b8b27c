package v1alpha1

// CatalogBinding says what applications get to use an object.
type CatalogBinding struct {
	// secret is where the object names the Secret with the details of the connection, in its namespace.
	// +required
	Secret CatalogPath `json:"secret"`
	// keys of the Secret.
	// +kubebuilder:validation:MaxItems=30
	// +listType=map
	// +listMapKey=name
	// +optional
	Keys []CatalogKey `json:"keys,omitempty"`
}

// CatalogKey is a key of a Secret.
type CatalogKey struct {
	// name of the key.
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	// +required
	Name string `json:"name"`
	// description of its value.
	// +kubebuilder:validation:MaxLength=200
	// +optional
	Description string `json:"description,omitempty"`
}
