import WebServiceClient

/// The names whose values are secrets. A name is compared in lower case and without `-`, `_`, `.` and blanks, hence `API-Key`, `api_key` and
/// `apiKey` are one.
struct SecretNames: Sendable {
    typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Longer names aren't looked at beyond this many bytes, from their end.
    static let longest = 128

    /// A name is secret that contains one of these: those that errors mask, too.
    private static let words = SecretMask.words
    /// A name is secret that is one of these, of four bytes at most.
    private static let whole = SecretMask.wholeNames.map { packed($0.utf8) }
    /// Parameters are, and metadata; in running text these name too much else.
    private static let parameters = ["key", "sig", "code"].map { packed($0.utf8) }
    /// Their values go to the end of the line.
    private static let lines = ["authorization", "cookie", "passphrase", "authenticationinfo"]

    /// The words by their first byte.
    private static let table: [[[UInt8]]] = {
        var table = [[[UInt8]]](repeating: [], count: 256)
        for word in words.map({ Array($0.utf8) }) { table[Int(word[0])].append(word) }
        return table
    }()

    /// A bit for each three letters that a word begins with: hardly a name that isn't secret has such three.
    private static let beginnings: [UInt64] = {
        var beginnings = [UInt64](repeating: 0, count: 512)
        for word in words {
            let beginning = word.utf8.prefix(3).reduce(0, beginning)
            beginnings[beginning >> 6] |= 1 << UInt64(beginning & 63)
        }
        return beginnings
    }()

    /// Three letters, by five bits of each, one on from those before.
    private static func beginning(_ before: Int, _ letter: UInt8) -> Int {
        (before << 5 | Int(letter & 31)) & 0x7FFF
    }

    private let hidden: Set<[UInt8]>
    private let shown: Set<[UInt8]>

    init(hidden: [String] = [], shown: [String] = []) {
        self.hidden = Set(hidden.map { Self.normal($0.lowercased().utf8) })
        self.shown = Set(shown.map { Self.normal($0.lowercased().utf8) })
    }

    /// Whether the value beside a name is secret.
    ///
    /// - Parameter isParameter: whether it stands in a query or is a name of metadata.
    func hides(_ name: Slice<Bytes>, isParameter: Bool) -> Bool {
        hides(Bytes(rebasing: name), isParameter: isParameter)
    }

    /// Whether the value beside a name is secret.
    func hides(_ name: Bytes, isParameter: Bool) -> Bool {
        if !hidden.isEmpty || !shown.isEmpty {
            let normal = Self.normal(String(decoding: name, as: UTF8.self).lowercased().utf8)
            if shown.contains(normal) { return false }
            if hidden.contains(normal) { return true }
        }
        switch Self.glance(name) {
        case .short(let packed): return Self.whole.contains(packed) || isParameter && Self.parameters.contains(packed)
        case .nothing: return false
        case .beginning: return Self.withNormal(name) { Self.isWhole($0, isParameter: isParameter) || Self.containsWord($0) }
        }
    }

    private static func isWhole(_ normal: UnsafeBufferPointer<UInt8>, isParameter: Bool) -> Bool {
        guard normal.count <= 4 else { return false }
        let packed = packed(normal)
        return whole.contains(packed) || isParameter && parameters.contains(packed)
    }

    /// What a name may be.
    private enum Glance {
        /// It has no more than these bytes, and no word begins in it.
        case short(UInt32)
        /// A word may begin in it.
        case beginning
        case nothing
    }

    /// Goes through a name once: most need no more than that.
    private static func glance(_ name: Bytes) -> Glance {
        normalForms.withUnsafeBufferPointer { forms in
            beginnings.withUnsafeBufferPointer { beginnings in
                var (packed, count, letters) = (UInt32(0), 0, 0)
                for index in max(0, name.count - longest)..<name.count {
                    let form = forms[Int(name[index])]
                    guard form != 0 else { continue }
                    letters = beginning(letters, form)
                    if beginnings[letters >> 6] &>> UInt64(letters & 63) & 1 != 0 { return .beginning }
                    packed = packed << 8 | UInt32(form)
                    count += 1
                }
                return count <= 4 ? .short(packed) : .nothing
            }
        }
    }

    /// Up to four bytes as one number.
    private static func packed(_ name: some Sequence<UInt8>) -> UInt32 {
        name.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func containsWord(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.count > 2 else { return false }
        return (0..<name.count - 2).contains { start in
            table[Int(name[start])].contains { word in
                word.count <= name.count - start && word.indices.allSatisfy { name[start + $0] == word[$0] }
            }
        }
    }

    /// Whether the value goes to the end of the line.
    static func isLine(_ name: some Collection<UInt8>) -> Bool {
        let text = String(decoding: normal(name), as: UTF8.self)
        return lines.contains { text.hasSuffix($0) }
    }

    private static func normal(_ name: some Collection<UInt8>) -> [UInt8] {
        withNormal(name) { Array($0) }
    }

    /// Each byte in lower case; 0 for one that is left out.
    private static let normalForms: [UInt8] = {
        var forms = (UInt8.min...UInt8.max).map(\.lowercased)
        for byte in "-_. ".utf8 { forms[Int(byte)] = 0 }
        return forms
    }()

    private static func withNormal<Result>(_ name: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        normalForms.withUnsafeBufferPointer { forms in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
                var count = 0
                for byte in name.dropFirst(max(0, name.count - longest)) {
                    buffer[count] = forms[Int(byte)]
                    count += forms[Int(byte)] == 0 ? 0 : 1
                }
                return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
            }
        }
    }
}
