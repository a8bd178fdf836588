import CSystemLibraries

/// The system's libcurl, found at run time.
///
///     let library = try CurlLibrary.open()
///     print(library.version, library.features.contains(.http2))
public struct CurlLibrary: Sendable, Hashable {
    /// The features that the library was built with.
    public struct Features: OptionSet, Sendable, Hashable {
        /// The bits.
        public let rawValue: UInt32

        /// Creates a set from its bits.
        public init(rawValue: UInt32) {
            self.rawValue = rawValue
        }

        /// IPv6.
        public static let ipv6 = Self(rawValue: UInt32(CSL_FEATURE_IPV6))
        /// TLS.
        public static let tls = Self(rawValue: UInt32(CSL_FEATURE_TLS))
        /// Name resolution without blocking.
        public static let asynchronousDNS = Self(rawValue: UInt32(CSL_FEATURE_ASYNC_DNS))
        /// HTTP/2.
        public static let http2 = Self(rawValue: UInt32(CSL_FEATURE_HTTP2))
        /// Unix-domain sockets.
        public static let unixSockets = Self(rawValue: UInt32(CSL_FEATURE_UNIX_SOCKETS))
        /// Proxies over TLS.
        public static let httpsProxies = Self(rawValue: UInt32(CSL_FEATURE_HTTPS_PROXY))
        /// The codings gzip and deflate. The transport decodes bodies without libcurl, so this doesn't determine which codings it supports.
        public static let gzip = Self(rawValue: UInt32(CSL_FEATURE_LIBZ))
        /// The coding br; see ``gzip``.
        public static let brotli = Self(rawValue: UInt32(CSL_FEATURE_BROTLI))
        /// The coding zstd; see ``gzip``.
        public static let zstd = Self(rawValue: UInt32(CSL_FEATURE_ZSTD))
    }

    /// The version, such as `7.88.1`.
    public let version: String
    /// The version as `0xXXYYZZ`, for comparisons.
    public let versionNumber: UInt32
    /// The TLS library with its version, such as `OpenSSL/3.0.19`; `nil` without TLS.
    public let tls: String?
    /// The features that it was built with.
    public let features: Features
    /// Whether the verified certificates of a connection can be read, which pins require: with OpenSSL.
    public let readsCertificateChains: Bool
    /// The system's certificate authorities, if the library reports them: a file with all of them, and a folder with hashed names.
    let authoritiesFile: String?
    let authoritiesFolder: String?

    private static let found: Result<CurlLibrary, CurlUnavailable> = {
        guard csl_curl_open() else {
            return .failure(CurlUnavailable(reason: csl_curl_failure().map { String(cString: $0) } ?? "libcurl can't be opened"))
        }
        return .success(CurlLibrary(csl_curl_describe()))
    }()

    /// Opens the library, once per process.
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

    /// Whether the library reports when a connection is established and a request is about to be sent. Otherwise it may send a request
    /// twice.
    var reportsConnections: Bool { versionNumber >= 0x07_50_00 }
    /// Whether a reused handle keeps a pointer to a header field of its last exchange, which has been freed: if the first field line of a
    /// response begins with whitespace, libcurl writes to it (curl's issue 11101, fixed in 8.1). Each line of a head must therefore be
    /// checked before libcurl stores it, which `CURLOPT_HEADER` makes possible.
    var keepsFreedHeader: Bool { (0x07_53_00..<0x08_01_00).contains(versionNumber) }
    /// Whether an HTTP/2 connection without TLS can be reused. 7.88 starts HTTP/2 on it again, and the server closes it.
    var keepsPlainHTTP2: Bool { !(0x07_58_00..<0x08_00_00).contains(versionNumber) }
    /// Whether a connection is reused only by transfers with the same TLS options.
    var keepsOptionsApart: Bool { versionNumber >= 0x07_53_01 }
    /// Whether an HTTP/1.1 request never uses an existing HTTP/2 connection: 7.76 and 8.12.0 do that.
    var keepsVersionsApart: Bool { versionNumber >= 0x07_4D_00 && versionNumber != 0x08_0C_00 }
    /// The value for "no folder with authorities". `nil` has that meaning only for older libraries: from 8.17 on it restores the system's
    /// folder, which would be trusted in addition to the given authorities. OpenSSL ignores a missing folder; other libraries fail.
    var noFolder: String? { readsCertificateChains ? "/dev/null/none" : nil }
    /// Whether certificates and keys can be passed as bytes. Some of its TLS libraries don't support that, whatever the version.
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

    /// Checks the result of setting an option that must not be omitted.
    ///
    /// - Throws: ``TransportError`` with `unsupported` if the library doesn't accept the option.
    func check(_ result: Int32, _ what: String) throws(TransportError) {
        guard result != 0 else { return }
        let reason = csl_easy_error_text(result).map { String(cString: $0) } ?? "error \(result)"
        throw TransportError(
            .unsupported,
            "libcurl \(version) with \(tls ?? "no TLS") doesn't support \(what) (\(reason)): install another one, or change the setting.")
    }
}

/// An error that indicates that the system's libcurl can't be used.
public struct CurlUnavailable: DescribedError, Sendable {
    /// The reason, and the fix.
    public let reason: String

    /// The reason, and the alternative.
    public var description: String {
        "The transport on libcurl can't be used: \(reason). URLSessionTransport works without it."
    }
}
