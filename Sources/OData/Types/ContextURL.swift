import WebServiceClient

/// A payload's own context URL, which relative links begin at. It may come behind what it is for.
final class ContextURL: Sendable, Hashable {
    private let value: Locked<String?>

    init(_ text: String?) { value = Locked(text) }

    var text: String? {
        get { value.withLock { $0 } }
        set { value.withLock { $0 = newValue } }
    }

    static func == (left: ContextURL, right: ContextURL) -> Bool { left.text == right.text }

    /// Nothing: a value that is in a set must keep its hash when its page's context comes.
    func hash(into hasher: inout Hasher) {}
}
