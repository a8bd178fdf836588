import WebServiceClient

/// The names whose values are secrets. A name is compared in lower case and without `-`, `_`, `.` and blanks, hence `API-Key`, `api_key` and
/// `apiKey` are one.
struct SecretNames: Sendable {
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

    /// Whether a word begins with two letters, by five bits of each: most places of a name need no more than a look at it.
    private static let beginnings: [Bool] = {
        var beginnings = [Bool](repeating: false, count: 1_024)
        for word in words.map({ Array($0.utf8) }) { beginnings[beginning(word[0], word[1])] = true }
        return beginnings
    }()

    private static func beginning(_ first: UInt8, _ second: UInt8) -> Int {
        Int(first & 31) << 5 | Int(second & 31)
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
    func hides(_ name: some Collection<UInt8>, isParameter: Bool) -> Bool {
        if !hidden.isEmpty || !shown.isEmpty {
            let normal = Self.normal(String(decoding: name, as: UTF8.self).lowercased().utf8)
            if shown.contains(normal) { return false }
            if hidden.contains(normal) { return true }
        }
        return Self.withNormal(name) { normal in
            if normal.count <= 4 {
                let packed = Self.packed(normal)
                if Self.whole.contains(packed) || isParameter && Self.parameters.contains(packed) { return true }
            }
            return Self.containsWord(normal)
        }
    }

    /// Up to four bytes as one number.
    private static func packed(_ name: some Sequence<UInt8>) -> UInt32 {
        name.reduce(0) { $0 << 8 | UInt32($1) }
    }

    private static func containsWord(_ name: UnsafeBufferPointer<UInt8>) -> Bool {
        guard name.count > 2 else { return false }
        return beginnings.withUnsafeBufferPointer { beginnings in
            for start in 0..<name.count - 2 where beginnings[beginning(name[start], name[start + 1])] {
                let isWord = table[Int(name[start])].contains { word in
                    word.count <= name.count - start && word.indices.allSatisfy { name[start + $0] == word[$0] }
                }
                if isWord { return true }
            }
            return false
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
