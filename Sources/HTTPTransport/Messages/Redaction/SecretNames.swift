/// The names whose values are secret. Names are compared in lower case and without the delimiters `-`, `_`, `.`, `+`, brackets and spaces,
/// so `API-Key`, `api_key` and `apiKey` are equal.
package struct SecretNames: Sendable {
    package typealias Bytes = UnsafeBufferPointer<UInt8>

    /// The number of bytes that are examined, from the end of a longer name.
    package static let longest = 128

    /// Names that contain one of these words are secret. Errors mask the same words.
    private static let words = SecretMask.words
    /// Names that equal one of these, of two to four bytes, are secret.
    private static let whole = SecretMask.wholeNames.map { packed($0.utf8) }
    /// Names that are secret for parameters and metadata. In running text they are too common.
    private static let parameterNames = ["key", "sig", "code"]
    private static let parameters = parameterNames.map { packed($0.utf8) }
    /// Names whose values extend to the end of the line.
    private static let lines = ["authorization", "cookie", "passphrase", "authenticationinfo"]

    /// The words, indexed by their first byte.
    private static let table: [[[UInt8]]] = {
        var table = [[[UInt8]]](repeating: [], count: 256)
        for word in words.map({ Array($0.utf8) }) { table[Int(word[0])].append(word) }
        return table
    }()

    /// Lookup tables for each byte of each name. The memory is never changed or freed, so any thread may read it.
    private struct Tables {
        /// The lower-case form of each byte; 0 for ignored bytes.
        let forms: UnsafePointer<UInt8>
        /// A bit for a sequence of three letters in each word and short name. Few harmless names contain such a sequence.
        let beginnings: UnsafePointer<UInt64>

        /// Parts of many words, which are rarer in other names than the beginnings of these words.
        private static let commonParts = ["key", "code", "pass"].map { $0.prefix(3) }

        init() {
            let forms = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
            for byte in UInt8.min...UInt8.max { (forms + Int(byte)).initialize(to: byte.lowercased) }
            for byte in "-_.+[] ".utf8 { forms[Int(byte)] = 0 }
            let beginnings = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
            beginnings.initialize(repeating: 0, count: 512)
            for word in words + SecretMask.wholeNames + parameterNames {
                let mark = Self.commonParts.first { word.contains($0) } ?? word.prefix(3)
                let beginning = mark.utf8.reduce(0, SecretNames.beginning)
                // Any letter may precede a name of two letters.
                for letter in 0..<UInt64(mark.utf8.count == 2 ? 32 : 1) {
                    let beginning = beginning | letter << 10
                    beginnings[Int(beginning >> 6)] |= 1 << (beginning & 63)
                }
            }
            self.forms = UnsafePointer(forms)
            self.beginnings = UnsafePointer(beginnings)
        }
    }

    nonisolated(unsafe) private static let tables = Tables()

    /// Appends a letter to a sequence of three letters with five bits each.
    private static func beginning(_ before: UInt64, _ letter: UInt8) -> UInt64 {
        (before &<< 5 | UInt64(letter & 31)) & 0x7FFF
    }

    /// The names that the user declared as secret or not.
    private let own: [[UInt8]: Bool]

    package init(hidden: [String] = [], shown: [String] = []) {
        var own: [[UInt8]: Bool] = [:]
        for name in hidden { own[Self.normal(name.lowercased().utf8)] = true }
        for name in shown { own[Self.normal(name.lowercased().utf8)] = false }
        self.own = own
    }

    /// Whether the value of such a name is itself a name, as with `key`.
    package static func isNaming(_ name: String) -> Bool { name.withBytes { $0.isNaming($0.indices) } }

    /// Whether the value of such a name belongs to the name given by ``isNaming(_:)``.
    package static func isValuing(_ name: String) -> Bool { name.withBytes { $0.isValuing($0.indices) } }

    /// Whether the value of a name is secret.
    ///
    /// - Parameter isParameter: Whether the name is a query item or metadata.
    package func hides(_ name: Slice<Bytes>, isParameter: Bool) -> Bool {
        hides(Bytes(rebasing: name), isParameter: isParameter)
    }

    /// Whether the value of a name is secret.
    package func hides(_ name: Bytes, isParameter: Bool) -> Bool {
        if !own.isEmpty, let isSecret = own[Self.normal(String(decoding: name, as: UTF8.self).lowercased().utf8)] { return isSecret }
        let name = Bytes(rebasing: name.suffix(Self.longest))
        guard Self.mayBeSecret(name) else { return false }
        return Self.endsInWholeName(name) || Self.withNormal(name) { Self.isWhole($0, isParameter: isParameter) || Self.containsWord($0) }
    }

    /// Whether the last word of a name with delimiters is secret, as in `db_pass`.
    private static func endsInWholeName(_ name: Bytes) -> Bool {
        let forms = tables.forms
        guard let last = name.lastIndex(where: { forms[Int($0)] != 0 }) else { return false }
        let word = name[...last].suffix(5).reversed().prefix { forms[Int($0)] != 0 }
        guard word.count <= 4 else { return false }
        return whole.contains(packed(word.reversed().lazy.map { forms[Int($0)] }))
    }

    private static func isWhole(_ normal: Bytes, isParameter: Bool) -> Bool {
        guard normal.count <= 4 else { return false }
        let packed = packed(normal)
        return whole.contains(packed) || isParameter && parameters.contains(packed)
    }

    /// Whether a secret word or name may begin anywhere in a name. A quick check in one pass, which is false for most names.
    private static func mayBeSecret(_ name: Bytes) -> Bool {
        let tables = tables
        var letters: UInt64 = 0
        for byte in name {
            let form = tables.forms[Int(byte)]
            guard form != 0 else { continue }
            letters = beginning(letters, form)
            if tables.beginnings[Int(letters &>> 6)] &>> (letters & 63) & 1 != 0 { return true }
        }
        return false
    }

    /// Packs up to four bytes into one number.
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

    /// Whether the value extends to the end of the line.
    static func isLine(_ name: some Collection<UInt8>) -> Bool {
        let text = String(decoding: normal(name), as: UTF8.self)
        return lines.contains { text.hasSuffix($0) }
    }

    private static func normal(_ name: some Collection<UInt8>) -> [UInt8] {
        withNormal(name) { Array($0) }
    }

    private static func withNormal<Result>(_ name: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        let forms = tables.forms
        return withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
            var count = 0
            for byte in name.dropFirst(max(0, name.count - longest)) {
                buffer[count] = forms[Int(byte)]
                count += forms[Int(byte)] == 0 ? 0 : 1
            }
            return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
