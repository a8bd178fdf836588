/// How much a service is to say beside the values (JSON Format, section 3.1).
public enum MetadataLevel: String, Sendable, Hashable, CaseIterable {
    /// Next only to nothing: next links and counts.
    case none
    /// What a client can't know by the conventions.
    case minimal
    /// All: types, links and operations of every entity.
    case full
}
