/// The names whose values are secrets. A name is compared in lower case and without `-`, `_`, `.` and blanks, hence `API-Key`, `api_key` and
/// `apiKey` are one.
package struct SecretNames: Sendable {
    package typealias Bytes = UnsafeBufferPointer<UInt8>

    /// Longer names aren't looked at beyond this many bytes, from their end.
    package static let longest = 128

    /// A name is secret that contains one of these: those that errors mask, too.
    private static let words = SecretMask.words
    /// A name is secret that is one of these, of two to four bytes.
    private static let whole = SecretMask.wholeNames.map { packed($0.utf8) }
    /// Parameters are, and metadata; in running text these name too much else.
    private static let parameterNames = ["key", "sig", "code"]
    private static let parameters = parameterNames.map { packed($0.utf8) }
    /// Their values go to the end of the line.
    private static let lines = ["authorization", "cookie", "passphrase", "authenticationinfo"]

    /// The words by their first byte.
    private static let table: [[[UInt8]]] = {
        var table = [[[UInt8]]](repeating: [], count: 256)
        for word in words.map({ Array($0.utf8) }) { table[Int(word[0])].append(word) }
        return table
    }()

    /// What is looked up for each byte of each name. In memory that is never changed and never given back, which any thread may read.
    private struct Tables {
        /// Each byte in lower case; 0 for one that is left out.
        let forms: UnsafePointer<UInt8>
        /// A bit for each three letters that a word begins with, or a short name: hardly a name that isn't secret has such three.
        let beginnings: UnsafePointer<UInt64>

        init() {
            let forms = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
            for byte in UInt8.min...UInt8.max { (forms + Int(byte)).initialize(to: byte.lowercased) }
            for byte in "-_. ".utf8 { forms[Int(byte)] = 0 }
            let beginnings = UnsafeMutablePointer<UInt64>.allocate(capacity: 512)
            beginnings.initialize(repeating: 0, count: 512)
            for word in words + SecretMask.wholeNames + parameterNames {
                let beginning = word.utf8.prefix(3).reduce(0, SecretNames.beginning)
                beginnings[Int(beginning >> 6)] |= 1 << (beginning & 63)
            }
            self.forms = UnsafePointer(forms)
            self.beginnings = UnsafePointer(beginnings)
        }
    }

    nonisolated(unsafe) private static let tables = Tables()

    /// Three letters, by five bits of each, one on from those before.
    private static func beginning(_ before: UInt64, _ letter: UInt8) -> UInt64 {
        (before &<< 5 | UInt64(letter & 31)) & 0x7FFF
    }

    /// The names of which the user has said whether they are secret.
    private let own: [[UInt8]: Bool]

    package init(hidden: [String] = [], shown: [String] = []) {
        var own: [[UInt8]: Bool] = [:]
        for name in hidden { own[Self.normal(name.lowercased().utf8)] = true }
        for name in shown { own[Self.normal(name.lowercased().utf8)] = false }
        self.own = own
    }

    /// Whether what stands beside such a name is a name itself, as with `key`.
    package static func isNaming(_ name: String) -> Bool { name.withBytes { $0.isNaming($0.indices) } }

    /// Whether what stands beside such a name is the value of one that stands beside a naming one.
    package static func isValuing(_ name: String) -> Bool { name.withBytes { $0.isValuing($0.indices) } }

    /// Whether the value beside a name is secret.
    ///
    /// - Parameter isParameter: whether it stands in a query or is a name of metadata.
    package func hides(_ name: Slice<Bytes>, isParameter: Bool) -> Bool {
        hides(Bytes(rebasing: name), isParameter: isParameter)
    }

    /// Whether the value beside a name is secret.
    package func hides(_ name: Bytes, isParameter: Bool) -> Bool {
        if !own.isEmpty, let isSecret = own[Self.normal(String(decoding: name, as: UTF8.self).lowercased().utf8)] { return isSecret }
        let name = Bytes(rebasing: name.suffix(Self.longest))
        guard Self.mayBeSecret(name) else { return false }
        return Self.withNormal(name) { Self.isWhole($0, isParameter: isParameter) || Self.containsWord($0) }
    }

    private static func isWhole(_ normal: Bytes, isParameter: Bool) -> Bool {
        guard normal.count <= 4 else { return false }
        let packed = packed(normal)
        return whole.contains(packed) || isParameter && parameters.contains(packed)
    }

    /// Whether something may begin in a name that makes it secret, which in most it doesn't. Goes through the name once: most need no
    /// more than that.
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
