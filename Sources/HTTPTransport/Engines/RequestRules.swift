package import Foundation

/// The requirements of every engine for requests, so that no engine can misinterpret them.
package enum RequestRules {
    /// Returns the origin of a URL.
    ///
    /// - Throws: ``TransportError`` with `badRequest` for a URL without a host, with another scheme, or with user info.
    package static func origin(of url: URL) throws(TransportError) -> Origin {
        guard let origin = Origin(url) else {
            throw TransportError(
                .badRequest,
                "The URL \(SecretMask.text(of: url)) has no host: give an absolute URL such as https://api.example.com/path.")
        }
        guard origin.scheme == "http" || origin.scheme == "https" else {
            throw TransportError(
                .badRequest, "The URL \(SecretMask.text(of: url)) has the scheme \(origin.scheme): this transport supports http and https.")
        }
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
            throw TransportError(
                .badRequest,
                "The URL \(SecretMask.text(of: url)) contains user info: remove it, and set an authentication provider in the client."
            )
        }
        return origin
    }

    /// Rejects a method that isn't a token, and `CONNECT`.
    package static func check(_ method: ServiceRequest.Method) throws(TransportError) {
        // The most frequent methods need no check of their letters.
        if method == .get || method == .post { return }
        guard method.isValid else {
            throw TransportError(.badRequest, "The method isn't a token (RFC 9110 §9.1): use letters, such as GET.")
        }
        guard method != "CONNECT" else {
            throw TransportError(.unsupported, "CONNECT opens tunnels and can't be called: use another method.")
        }
    }

    /// Rejects a body with a negative length: an engine would wait for its end, or trap.
    package static func check(_ body: RequestBody?) throws(TransportError) {
        guard let fault = fault(of: body) else { return }
        throw TransportError(.badRequest, fault)
    }

    /// Returns the fault of a body that no engine can send.
    package static func fault(of body: RequestBody?) -> String? {
        if let type = body?.contentType, HTTPFields.Field.isBlank(type) { return blankType }
        guard let length = body?.length, length < 0 else { return nil }
        return "The length of the request's body is \(length): give the number of bytes, or nil if it is unknown."
    }

    /// The error for a blank type: an engine would omit the field, or send it without a value, which no server can interpret.
    package static let blankType = "The Content-Type of the request is blank: give a media type such as text/plain, or nil for none."

    /// Rejects credentials for a proxy if the engine can't separate them and would send them to the server.
    static func keepsFromServer(_ headers: HTTPFields, engine: String) throws(TransportError) {
        guard headers.contains(.proxyAuthorization) else { return }
        throw TransportError(
            .unsupported,
            "\(engine) would send Proxy-Authorization to the server: give the credentials to its own configuration, or use another "
                + "transport, such as CurlTransport.")
    }

    /// Rejects fields that would break out of their line, contain other control characters, or frame the message, which is up to the
    /// transport.
    ///
    /// - Returns: Whether the field is sent; a correct `Content-Length` isn't, because the engine writes it.
    static func admits(_ field: HTTPFields.Field, body: RequestBody?) throws(TransportError) -> Bool {
        guard field.name.isValid else {
            throw TransportError(.badRequest, "A header name isn't a token (RFC 9110 §5.1): use letters, digits and hyphens.")
        }
        guard !HTTPFields.Field.hasControls(field.value) else {
            throw TransportError(.badRequest, "The value of the header \(field.name) \(HTTPFields.Field.fault(of: field.value)).")
        }
        switch field.name {
        case .contentType where HTTPFields.Field.isBlank(field.value):
            throw TransportError(.badRequest, blankType)
        case .contentLength:
            guard let length = Int64(field.value), length == (body.map(\.length) ?? 0) else {
                throw TransportError(.badRequest, "The header Content-Length doesn't match the body: omit it, the transport sets it.")
            }
            return false
        case .transferEncoding:
            throw TransportError(.badRequest, "The header Transfer-Encoding is set by the transport: omit it.")
        default:
            return true
        }
    }
}

extension ServiceTimeouts {
    /// The capabilities that a transport needs for the deadlines.
    package var requiredCapabilities: TransportCapabilities { connect == nil ? [] : .connectDeadlines }

    /// Throws if there is a deadline that a transport doesn't support.
    ///
    /// - Throws: ``TransportError/Code/unsupported``.
    package func check(_ capabilities: @autoclosure () -> TransportCapabilities) throws(TransportError) {
        guard connect != nil, !capabilities().contains(.connectDeadlines) else { return }
        throw TransportError(
            .unsupported,
            "This transport has no deadline for connecting: leave timeouts.connect unset, timeouts.firstByte includes it, or use another "
                + "one, such as CurlTransport with libcurl 7.80 or later.")
    }
}

extension TrustPolicy {
    /// The capabilities that a transport needs for the policy.
    public var requiredCapabilities: TransportCapabilities {
        var capabilities: TransportCapabilities = []
        if !pins.isEmpty { capabilities.insert(.pinning) }
        switch identity?.content {
        case .pem: capabilities.formUnion([.clientCertificates, .clientCertificatesInPEM])
        case .pkcs12: capabilities.insert(.clientCertificates)
        case nil: break
        }
        if !authorities.isSystem { capabilities.insert(.ownCertificateAuthorities) }
        if minimumTLSVersion != nil { capabilities.insert(.minimumTLSVersion) }
        return capabilities
    }

    /// Throws if the policy is invalid, needs a capability that the transport lacks, or pins a host that is called without TLS.
    ///
    /// - Parameter origin: The origin of the request; `nil` if unknown.
    /// - Throws: ``TransportError/Code/unsupported``, ``TransportError/Code/badRequest``.
    package func check(_ capabilities: TransportCapabilities, callTo origin: Origin?) throws(TransportError) {
        guard !isStandard else { return }
        let missing = requiredCapabilities.subtracting(capabilities)
        guard missing.isEmpty else {
            throw TransportError(
                .unsupported,
                "The trust policy needs capabilities that this transport lacks: \(missing.descriptions.joined(separator: ", ")). "
                    + "Use another transport, such as CurlTransport.")
        }
        if let fault = faults.first { throw TransportError(.badRequest, "The trust policy is invalid: \(fault).") }
        if let origin { try checkPins(callTo: origin) }
    }

    /// Rejects pins over `http`, where there is no key to compare.
    ///
    /// - Throws: ``TransportError/Code/badRequest``.
    func checkPins(callTo origin: Origin) throws(TransportError) {
        guard origin.scheme == "http", pins(forHost: origin.host) != nil else { return }
        throw TransportError(
            .badRequest, "The trust policy has pins for \(origin.host), which can't be checked over http: use https, or remove the pins.")
    }
}

extension ServiceRequest {
    /// Throws if the request's trust policy is invalid, needs a capability that the transport lacks, or pins a host that is called without
    /// TLS. Transports must call this before they send anything.
    ///
    /// - Parameter capabilities: The transport's capabilities.
    /// - Throws: ``TransportError/Code/unsupported``, ``TransportError/Code/badRequest``.
    public func checkTrust(_ capabilities: TransportCapabilities) throws(TransportError) {
        try trust?.check(capabilities, callTo: origin)
    }
}

extension TransportError {
    /// Creates the error for a host whose certificate chain contains none of its pins.
    package init(_ mismatch: PinMismatch) {
        self.init(.pinMismatch, mismatch.description, underlying: mismatch)
    }
}
