/// The names whose values are secrets. A name is compared in lower case and without `-`, `_`, `.` and blanks, hence `API-Key`, `api_key` and
/// `apiKey` are one.
struct SecretNames: Sendable {
    /// Longer names aren't looked at beyond this many bytes, from their end.
    static let longest = 128

    /// A name is secret that contains one of these.
    private static let words = [
        "token", "secret", "password", "passwd", "pwd", "passphrase", "passcode", "apikey", "accesskey", "privatekey", "subscriptionkey",
        "functionskey", "authkey", "accountkey", "sharedkey", "signingkey", "encryptionkey", "masterkey", "sessionid", "jwt", "signature",
        "credential", "authorization", "cookie", "authenticationinfo", "csrf", "xsrf", "bearer",
    ]
    /// A name is secret that is one of these.
    private static let whole = ["pass", "auth", "cvv", "cvc", "pin", "otp", "sid"].map { Array($0.utf8) }
    /// Parameters are, and metadata; in running text these name too much else.
    private static let parameters = ["key", "sig", "code"].map { Array($0.utf8) }
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
                return Self.whole.contains { normal.elementsEqual($0) }
                    || isParameter && Self.parameters.contains { normal.elementsEqual($0) }
                    || Self.containsWord(normal)
            }
            return Self.containsWord(normal)
        }
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

    private static func withNormal<Result>(_ name: some Collection<UInt8>, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: longest) { buffer in
            var count = 0
            for byte in name.dropFirst(max(0, name.count - longest)) {
                switch byte {
                case UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."), UInt8(ascii: " "): continue
                default:
                    buffer[count] = byte.lowercased
                    count += 1
                }
            }
            return body(UnsafeBufferPointer(rebasing: buffer[..<count]))
        }
    }
}
