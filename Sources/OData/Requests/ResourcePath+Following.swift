extension ResourcePath {
    /// The path, gone on to the property or the relation that a key path of the type leads to.
    func following(_ relation: AnyKeyPath, of type: Any.Type) -> ResourcePath {
        var copy = self
        for segment in PropertyCatalog.segments(of: relation, in: type) {
            switch segment {
            case .property(let name): copy.segments.append(.name(name))
            case .unresolved(let error): copy.segments.append(.invalid(error))
            default: continue
            }
        }
        return copy
    }
}
