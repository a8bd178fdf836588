import CSystemLibraries

/// A coding of a body that can be undone here (RFC 9110 §8.4.1), by a library of the system that is opened at run time.
///
/// Public for the fuzzer only, which is a package of its own.
@_spi(Fuzzing) public enum ContentCoding: Sendable, Hashable, CaseIterable {
    /// One or several gzip members (RFC 1952).
    case gzip
    /// A deflate stream in zlib's wrapping (RFC 1950), or without any (RFC 1951), as some servers send it.
    case deflate
    /// Brotli (RFC 7932).
    case brotli
    /// One or several Zstandard frames (RFC 8878).
    case zstd

    /// More codings one upon the other than anybody has a use for: each costs memory and time.
    private static let mostOfABody = 5

    /// The coding of a name, without regard to case; `nil` for one that isn't known here.
    public init?(name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// The name that it is registered by.
    public var name: String {
        switch self {
        case .gzip: "gzip"
        case .deflate: "deflate"
        case .brotli: "br"
        case .zstd: "zstd"
        }
    }

    /// Whether its library is there.
    public var isAvailable: Bool {
        switch self {
        case .gzip, .deflate: csl_inflater_is_available()
        case .brotli: csl_brotli_is_available()
        case .zstd: csl_zstd_is_available()
        }
    }

    /// What a request says in `Accept-Encoding`; `nil` when nothing can be undone here.
    static let acceptable: String? = {
        let names = allCases.filter(\.isAvailable).map(\.name)
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }()

    /// The codings that a body has to be freed from, in the order in which they were applied.
    ///
    /// - Returns: none where there are none, and where one of them can't be undone here: then the body is left as it is, whole.
    /// - Throws: ``TransportError`` with `unreadableResponse` when there are far too many.
    package static func ofBody(_ headers: HTTPFields, host: @autoclosure () -> String) throws(TransportError) -> [ContentCoding] {
        guard let list = headers[.contentEncoding] else { return [] }
        var codings: [ContentCoding] = []
        for item in list.split(separator: ",") {
            let name = item.trimming { $0 == " " || $0 == "\t" }
            guard !name.isEmpty, name.lowercased() != "identity" else { continue }
            guard let coding = ContentCoding(name: name), coding.isAvailable else { return [] }
            codings.append(coding)
        }
        guard codings.count <= mostOfABody else {
            throw TransportError(
                .unreadableResponse,
                "The body from \(host()) is encoded \(codings.count) times over, and \(mostOfABody) times is the most that is undone.")
        }
        return codings
    }
}

extension Substring {
    fileprivate func trimming(_ isBlank: (Character) -> Bool) -> Substring {
        var text = drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
