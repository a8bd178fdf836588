/// What a keyed container reads.
struct JSONContainerState {
    var document: JSONDocument
    var node: Int
    /// Whether the text is still there.
    var isCurrent = true
}
