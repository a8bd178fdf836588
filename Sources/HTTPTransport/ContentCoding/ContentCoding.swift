import CSystemLibraries

/// A coding of a body (RFC 9110 §8.4.1), using a system library that is loaded at run time.
///
/// Bodies of responses are decoded in every available coding, without any setting. An endpoint can state the coding of its requests'
/// bodies.
public enum ContentCoding: Sendable, Hashable, CaseIterable {
    /// One or several gzip members (RFC 1952).
    case gzip
    /// A deflate stream in zlib format (RFC 1950), or raw (RFC 1951), which some servers send.
    case deflate
    /// Brotli (RFC 7932).
    case brotli
    /// One or several Zstandard frames (RFC 8878).
    case zstd

    /// The maximum number of nested codings. Each costs memory and time, and more have no practical use.
    private static let nestingLimit = 5

    /// Creates the coding with a name, ignoring case; `nil` for an unsupported one.
    public init?(name: some StringProtocol) {
        switch name.lowercased() {
        case "gzip", "x-gzip": self = .gzip
        case "deflate": self = .deflate
        case "br": self = .brotli
        case "zstd": self = .zstd
        default: return nil
        }
    }

    /// The registered name.
    public var name: String {
        switch self {
        case .gzip: "gzip"
        case .deflate: "deflate"
        case .brotli: "br"
        case .zstd: "zstd"
        }
    }

    /// Whether the library that encodes is available. Some systems only have the one that decodes.
    public var canEncode: Bool {
        switch self {
        case .gzip, .deflate: csl_zlib_is_available()
        case .brotli: csl_brotli_encoder_is_available()
        case .zstd: csl_zstd_encoder_is_available()
        }
    }

    /// Whether the library that decodes is available.
    public var isAvailable: Bool {
        switch self {
        case .gzip, .deflate: csl_inflater_is_available()
        case .brotli: csl_brotli_is_available()
        case .zstd: csl_zstd_is_available()
        }
    }

    /// The value of a request's `Accept-Encoding`; `nil` if no library is available.
    static let acceptable: String? = {
        let names = allCases.filter(\.isAvailable).map(\.name)
        return names.isEmpty ? nil : names.joined(separator: ", ")
    }()

    /// The names of a body's codings, supported or not, in lower case and in the order in which they were applied. `identity` is none.
    package static func names(in headers: HTTPFields) -> [String] {
        guard let list = headers[.contentEncoding] else { return [] }
        return list.split(separator: ",").compactMap { item in
            let name = item.trimming { $0 == " " || $0 == "\t" }.lowercased()
            return name.isEmpty || name == "identity" ? nil : name
        }
    }

    /// Whether a body has a coding, supported or not.
    package static func isPresent(in headers: HTTPFields) -> Bool { !names(in: headers).isEmpty }

    /// Returns the codings to decode, in the order in which they were applied.
    ///
    /// - Returns: An empty array if there are none, or if one of them can't be decoded. The body is then delivered undecoded.
    /// - Throws: ``TransportError`` with `unreadableResponse` if there are too many.
    package static func ofBody(_ headers: HTTPFields, host: @autoclosure () -> String) throws(TransportError) -> [ContentCoding] {
        var codings: [ContentCoding] = []
        for name in names(in: headers) {
            guard let coding = ContentCoding(name: name), coding.isAvailable else { return [] }
            codings.append(coding)
        }
        guard codings.count <= nestingLimit else {
            throw TransportError(
                .unreadableResponse,
                "The body from \(host()) has \(codings.count) nested codings, more than the limit of \(nestingLimit): the server must use "
                    + "fewer.")
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
