/// What a byte may mean in a text that is searched for secrets.
struct ByteKind: OptionSet, Sendable {
    let rawValue: UInt8

    /// Part of a word: a letter, a digit, or one of `-_./+~`.
    static let word = Self(rawValue: 1)
    /// A sign that is looked at by itself.
    static let sign = Self(rawValue: 2)
    /// What begins with it may be an option, a PEM block, or the authority of a URL.
    static let opening = Self(rawValue: 4)
    static let digit = Self(rawValue: 8)
    static let capital = Self(rawValue: 16)
    /// A letter or a digit.
    static let alphanumeric = Self(rawValue: 32)
    /// Part of a name.
    static let namePart = Self(rawValue: 64)
    /// The name of an authentication scheme begins with it.
    static let schemeInitial = Self(rawValue: 128)

    /// The kinds of each byte. In memory that is never changed and never given back, which any thread may read: each byte of each text is
    /// looked up here, and an array would be counted and checked for it.
    nonisolated(unsafe) static let table: UnsafePointer<ByteKind> = {
        let table = UnsafeMutablePointer<ByteKind>.allocate(capacity: 256)
        for byte in UInt8.min...UInt8.max { (table + Int(byte)).initialize(to: ByteKind(of: byte)) }
        return UnsafePointer(table)
    }()

    private init(of byte: UInt8) {
        var kind: ByteKind = byte.isAlphanumeric ? [.word, .alphanumeric, .namePart] : []
        if byte.isDigit { kind.insert(.digit) }
        if byte.isUppercase { kind.insert(.capital) }
        if "-_./+~".utf8.contains(byte) { kind.insert(.word) }
        if "-/".utf8.contains(byte) { kind.insert(.opening) }
        if "abdnst".utf8.contains(byte.lowercased) { kind.insert(.schemeInitial) }
        if "=:%\\&<@".utf8.contains(byte) { kind.insert(.sign) }
        if "-_.".utf8.contains(byte) || byte >= 0x80 { kind.insert(.namePart) }
        self = kind
    }

    init(rawValue: UInt8) { self.rawValue = rawValue }
}
