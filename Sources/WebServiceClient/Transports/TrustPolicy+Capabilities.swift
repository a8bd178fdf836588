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

    /// Fails closed: throws when the policy can't be right, or needs what a transport can't do.
    ///
    /// - Throws: ``TransportError/Code/unsupported``, ``TransportError/Code/badRequest``.
    package func check(_ capabilities: TransportCapabilities) throws(TransportError) {
        guard !isStandard else { return }
        let missing = requiredCapabilities.subtracting(capabilities)
        guard missing.isEmpty else {
            throw TransportError(
                .unsupported,
                "The trust policy needs what this transport can't do: \(missing.descriptions.joined(separator: ", ")). "
                    + "Use another transport, such as CurlTransport.")
        }
        if let fault = faults.first { throw TransportError(.badRequest, "The trust policy can't be right: \(fault).") }
    }
}

extension TransportError {
    /// None of the host's pins is in its chain of certificates.
    package init(_ mismatch: PinMismatch) {
        self.init(.pinMismatch, mismatch.description, underlying: mismatch)
    }
}
