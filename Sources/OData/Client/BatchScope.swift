import WebServiceClient

/// The parts of a batch while the calls of its parts are made. A task-local value carries it to the places that print URLs.
///
/// A reference to a part is printed as `$part-7`, with a number that is unique in the process, because the position of the part in its
/// batch isn't known when the program makes the reference. ``resolved(_:)`` replaces it by `$1`, and rejects a reference outside its batch.
final class BatchScope: Sendable {
    @TaskLocal static var current: BatchScope?

    private static let count = Locked<UInt64>(0)

    private struct State {
        /// The numbers of the batch's parts, by token. A part that sends nothing has none.
        var numbers: [UInt64: Int?] = [:]
        /// The numbers that the current part refers to.
        var used: Set<Int> = []
    }

    private let state = Locked(State())

    /// Returns a token for a new part.
    static func newToken() -> UInt64 {
        count.withLock { count in
            count &+= 1
            return count
        }
    }

    /// Returns the text of a reference to a part.
    static func text(of token: UInt64) -> String { ResourcePath.partMark + String(token) }

    /// Adds a part, to which later ones may refer.
    func add(_ token: UInt64, number: Int?) {
        state.withLock { $0.numbers[token] = .some(number) }
    }

    /// Returns whether a part was added.
    func contains(_ token: UInt64) -> Bool { state.withLock { $0.numbers[token] != nil } }

    /// Returns the number of a part; `nil` if it isn't known, or sends nothing.
    func number(of token: UInt64) -> Int? { state.withLock { $0.numbers[token] ?? nil } }

    /// Returns the numbers that URLs were resolved to since the last call.
    func takeUsed() -> Set<Int> {
        state.withLock { state in
            defer { state.used = [] }
            return state.used
        }
    }

    /// Returns whether a URL is a reference to an earlier part, such as `$1/Items`.
    static func isReference(_ target: String) -> Bool {
        current != nil && target.utf8.first == UInt8(ascii: "$") && target.utf8.dropFirst().first.map { (0x30...0x39).contains($0) } == true
    }

    /// Replaces the reference to a part at the beginning of a URL by the part's number in its batch.
    ///
    /// - Throws: ``ODataQueryError`` if the part isn't an earlier one of the batch.
    static func resolved(_ text: String) throws(ODataQueryError) -> String {
        // Almost no URL is a reference, and each call asks.
        guard text.utf8.first == UInt8(ascii: "$"), text.hasPrefix(ResourcePath.partMark) else { return text }
        let rest = text.utf8.dropFirst(ResourcePath.partMark.utf8.count)
        let digits = rest.prefix { (0x30...0x39).contains($0) }
        guard let token = UInt64(String(Substring(digits))) else { return text }
        guard let scope = current else {
            throw .invalidPath("$part", reason: "the reference to a part of a batch is valid only in a later part of the same batch")
        }
        guard let known = scope.state.withLock({ $0.numbers[token] }) else {
            throw .invalidPath("$part", reason: "the part it refers to isn't an earlier one of the same batch: add that part before")
        }
        guard let number = known else {
            throw .invalidPath("$part", reason: "the part it refers to sends nothing, because nothing had changed")
        }
        scope.state.withLock { _ = $0.used.insert(number) }
        return "$" + String(number) + String(Substring(rest.dropFirst(digits.count)))
    }
}
