package import Foundation

/// What every engine demands of a request, so that none of them can misunderstand it.
package enum RequestRules {
    /// The origin of a URL that can be called.
    ///
    /// - Throws: ``TransportError`` with `badRequest` for a URL without a host, of another scheme, or with user info.
    package static func origin(of url: URL) throws(TransportError) -> Origin {
        guard let origin = Origin(url) else {
            throw TransportError(
                .badRequest,
                "The URL \(SecretMask.text(of: url)) names no host: give an absolute URL such as https://api.example.com/path.")
        }
        guard origin.scheme == "http" || origin.scheme == "https" else {
            throw TransportError(
                .badRequest, "The URL \(SecretMask.text(of: url)) is of scheme \(origin.scheme): this transport speaks http and https.")
        }
        guard url.user(percentEncoded: true) == nil, url.password(percentEncoded: true) == nil else {
            throw TransportError(
                .badRequest,
                "The URL \(SecretMask.text(of: url)) holds user info: leave it out, and give the client an authentication provider instead."
            )
        }
        return origin
    }

    /// Refuses a method that is no token, and `CONNECT`.
    package static func check(_ method: ServiceRequest.Method) throws(TransportError) {
        // Most are one of these, which need no look at their letters.
        if method == .get || method == .post { return }
        guard method.isValid else {
            throw TransportError(.badRequest, "The method is no token of RFC 9110: use letters, such as GET.")
        }
        guard method != "CONNECT" else {
            throw TransportError(.unsupported, "CONNECT opens tunnels, and is no call: use another method.")
        }
    }

    /// Refuses a body that says of itself that it is shorter than nothing: an engine would wait for its end, or trap.
    package static func check(_ body: RequestBody?) throws(TransportError) {
        guard let fault = fault(of: body) else { return }
        throw TransportError(.badRequest, fault)
    }

    /// What is wrong with a body, whatever engine sends it.
    package static func fault(of body: RequestBody?) -> String? {
        if let type = body?.contentType, HTTPFields.Field.isBlank(type) { return blankType }
        guard let length = body?.length, length < 0 else { return nil }
        return "The length of the request's body is \(length): give the number of its bytes, or nil where it isn't known."
    }

    /// An engine would leave the field out, or send it without a value, which no server can read.
    package static let blankType = "The Content-Type of the request is blank: give a media type such as text/plain, or nil for none."

    /// Refuses credentials for a proxy where an engine would send them to the server: it has no place of their own for them.
    static func keepsFromServer(_ headers: HTTPFields, engine: String) throws(TransportError) {
        guard headers.contains(.proxyAuthorization) else { return }
        throw TransportError(
            .unsupported,
            "\(engine) would send Proxy-Authorization to the server: give the credentials to its own configuration, or use another transport, "
                + "such as CurlTransport.")
    }

    /// Refuses a field that would break out of its line or holds other control characters, or that frames the message, which is the transport's own affair.
    ///
    /// - Returns: whether the field goes out; a right `Content-Length` doesn't, since the engine writes it.
    static func admits(_ field: HTTPFields.Field, body: RequestBody?) throws(TransportError) -> Bool {
        guard field.name.isValid else {
            throw TransportError(.badRequest, "A header's name is no token of RFC 9110: use letters, digits and hyphens.")
        }
        guard !HTTPFields.Field.hasControls(field.value) else {
            throw TransportError(.badRequest, "The value of the header \(field.name) \(HTTPFields.Field.fault(of: field.value)).")
        }
        switch field.name {
        case .contentType where HTTPFields.Field.isBlank(field.value):
            throw TransportError(.badRequest, blankType)
        case .contentLength:
            guard let length = Int64(field.value), length == (body.map(\.length) ?? 0) else {
                throw TransportError(.badRequest, "The header Content-Length doesn't fit the body: leave it out, the transport sets it.")
            }
            return false
        case .transferEncoding:
            throw TransportError(.badRequest, "The header Transfer-Encoding is the transport's own: leave it out.")
        default:
            return true
        }
    }
}

extension ServiceTimeouts {
    /// What a transport must be able to do to watch the deadlines.
    package var requiredCapabilities: TransportCapabilities { connect == nil ? [] : .connectDeadlines }

    /// Fails closed: throws when there is a deadline that a transport doesn't watch.
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
    /// What a transport must be able to do to honour the policy.
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

    /// Fails closed: throws when the policy can't be right, needs what a transport can't do, or pins a host that is called without TLS.
    ///
    /// - Parameter origin: where the request goes; `nil` where that isn't known.
    /// - Throws: ``TransportError/Code/unsupported``, ``TransportError/Code/badRequest``.
    package func check(_ capabilities: TransportCapabilities, callTo origin: Origin?) throws(TransportError) {
        guard !isStandard else { return }
        let missing = requiredCapabilities.subtracting(capabilities)
        guard missing.isEmpty else {
            throw TransportError(
                .unsupported,
                "The trust policy needs what this transport can't do: \(missing.descriptions.joined(separator: ", ")). "
                    + "Use another transport, such as CurlTransport.")
        }
        if let fault = faults.first { throw TransportError(.badRequest, "The trust policy can't be right: \(fault).") }
        if let origin { try checkPins(callTo: origin) }
    }

    /// Over `http` there is no key that a pin could be compared with.
    ///
    /// - Throws: ``TransportError/Code/badRequest``.
    func checkPins(callTo origin: Origin) throws(TransportError) {
        guard origin.scheme == "http", pins(forHost: origin.host) != nil else { return }
        throw TransportError(
            .badRequest, "The trust policy has pins for \(origin.host), which http can't keep: call it by https, or take the pins out.")
    }
}

extension ServiceRequest {
    /// Fails closed, for transports: throws when the request's trust policy can't be right, needs what a transport can't do, or pins a host that
    /// is called without TLS. A transport asks before it sends anything.
    ///
    /// - Parameter capabilities: the transport's.
    /// - Throws: ``TransportError/Code/unsupported``, ``TransportError/Code/badRequest``.
    public func checkTrust(_ capabilities: TransportCapabilities) throws(TransportError) {
        try trust?.check(capabilities, callTo: origin)
    }
}

extension TransportError {
    /// None of the host's pins is in its chain of certificates.
    package init(_ mismatch: PinMismatch) {
        self.init(.pinMismatch, mismatch.description, underlying: mismatch)
    }
}
