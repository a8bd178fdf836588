import CSystemLibraries

/// The system's libcurl as it was found at run time.
///
///     let library = try CurlLibrary.open()
///     print(library.version, library.features.contains(.http2))
public struct CurlLibrary: Sendable, Hashable {
    /// What the library was built with.
    public struct Features: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt32

        /// A set of those bits.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// IPv6.
        public static let ipv6 = Self(rawValue: UInt32(CSL_FEATURE_IPV6))
        /// TLS.
        public static let tls = Self(rawValue: UInt32(CSL_FEATURE_TLS))
        /// Names are resolved without blocking.
        public static let asynchronousDNS = Self(rawValue: UInt32(CSL_FEATURE_ASYNC_DNS))
        /// HTTP/2.
        public static let http2 = Self(rawValue: UInt32(CSL_FEATURE_HTTP2))
        /// Unix-domain sockets.
        public static let unixSockets = Self(rawValue: UInt32(CSL_FEATURE_UNIX_SOCKETS))
        /// Proxies that are reached over TLS.
        public static let httpsProxies = Self(rawValue: UInt32(CSL_FEATURE_HTTPS_PROXY))
        /// The codings gzip and deflate. Bodies are decoded without libcurl: whether the transport does is another matter.
        public static let gzip = Self(rawValue: UInt32(CSL_FEATURE_LIBZ))
        /// The coding br; see ``gzip``.
        public static let brotli = Self(rawValue: UInt32(CSL_FEATURE_BROTLI))
        /// The coding zstd; see ``gzip``.
        public static let zstd = Self(rawValue: UInt32(CSL_FEATURE_ZSTD))
    }

    /// The version, such as `7.88.1`.
    public let version: String
    /// The version as `0xXXYYZZ`, for comparing.
    public let versionNumber: UInt32
    /// The TLS library with its version, such as `OpenSSL/3.0.19`; `nil` without TLS.
    public let tls: String?
    /// What it was built with.
    public let features: Features
    /// Whether the verified certificates of a connection can be read, which pins need: with OpenSSL.
    public let readsCertificateChains: Bool
    /// The system's certificate authorities: a file of them all, and a folder of them by hash, where the library knows.
    package let authoritiesFile: String?
    package let authoritiesFolder: String?

    private static let found: Result<CurlLibrary, CurlUnavailable> = {
        guard csl_curl_open() else {
            return .failure(CurlUnavailable(reason: csl_curl_failure().map { String(cString: $0) } ?? "libcurl can't be opened"))
        }
        return .success(CurlLibrary(csl_curl_describe()))
    }()

    /// Opens the library: once for the whole process, whoever asks.
    ///
    /// - Throws: ``CurlUnavailable`` with the reason.
    public static func open() throws(CurlUnavailable) -> CurlLibrary {
        try found.get()
    }

    private init(_ about: csl_curl_about) {
        version = about.version_text.map { String(cString: $0) } ?? "unknown"
        versionNumber = about.version
        tls = about.tls.map { String(cString: $0) }
        features = Features(rawValue: about.features)
        readsCertificateChains = about.reads_chains
        authoritiesFile = about.authorities_file.map { String(cString: $0) }
        authoritiesFolder = about.authorities_folder.map { String(cString: $0) }
    }

    /// Whether the library tells when a connection stands and a request is about to go out. Without it, it may send a request twice.
    var reportsConnections: Bool { versionNumber >= 0x07_50_00 }
    /// Whether a handle that is used again keeps a pointer to a header field of its last exchange, which is freed by then: a response whose first
    /// field line begins with a blank makes libcurl write there (curl's issue 11101, fixed in 8.1). Each line of a head must be looked at before
    /// libcurl keeps it, which libcurl's `CURLOPT_HEADER` makes possible.
    var keepsFreedHeader: Bool { (0x07_53_00..<0x08_01_00).contains(versionNumber) }
    /// Whether a connection of HTTP/2 without TLS can be used again. 7.88 begins HTTP/2 on it once more, and the server closes it.
    var keepsPlainHTTP2: Bool { !(0x07_58_00..<0x08_00_00).contains(versionNumber) }
    /// Whether a connection is used again only by transfers with the same options of TLS.
    var keepsOptionsApart: Bool { versionNumber >= 0x07_53_01 }
    /// Whether a request that is to go by HTTP/1.1 gets no connection of HTTP/2 that is there: not so in 7.76 and 8.12.0.
    var keepsVersionsApart: Bool { versionNumber >= 0x07_4D_00 && versionNumber != 0x08_0C_00 }
    /// What to set for "no folder with authorities": `nil` says that to older libraries only, from 8.17 on they put the system's back, and
    /// would trust it beside the authorities that are to be the only ones. OpenSSL passes over a folder that isn't there; others fail with it.
    var noFolder: String? { readsCertificateChains ? "/dev/null/none" : nil }
    /// Whether certificates and keys can be given as bytes. Some of its ways to TLS can't take them, whatever its version.
    var takesBlobs: Bool { versionNumber >= 0x07_4D_00 && Self.takesBlobs }

    private static let takesBlobs: Bool = {
        guard csl_curl_enter() else { return false }
        defer { csl_curl_leave() }
        guard let easy = csl_easy_new() else { return false }
        defer { csl_easy_free(easy) }
        return [CSL_OPTION_AUTHORITIES_BLOB, CSL_OPTION_CERTIFICATE_BLOB, CSL_OPTION_KEY_BLOB].allSatisfy { option in
            Array("x".utf8).withUnsafeBytes { csl_easy_set_blob(easy, option, $0.baseAddress, $0.count) } == 0
        }
    }()

    /// Looks at what became of an option that must not be left out.
    ///
    /// - Throws: ``TransportError`` with `unsupported` where the library doesn't take it.
    func check(_ result: Int32, _ what: String) throws(TransportError) {
        guard result != 0 else { return }
        let reason = csl_easy_error_text(result).map { String(cString: $0) } ?? "error \(result)"
        throw TransportError(.unsupported, "libcurl \(version) with \(tls ?? "no TLS") doesn't take \(what) (\(reason)).")
    }
}
