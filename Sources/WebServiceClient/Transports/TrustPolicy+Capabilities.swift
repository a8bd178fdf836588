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
