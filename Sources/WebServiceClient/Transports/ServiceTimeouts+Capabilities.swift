extension ServiceTimeouts {
    /// What a transport must be able to do to watch the deadlines.
    var requiredCapabilities: TransportCapabilities { connect == nil ? [] : .connectDeadlines }

    /// Fails closed: throws when there is a deadline that a transport doesn't watch.
    ///
    /// - Throws: ``TransportError/Code/unsupported``.
    func check(_ capabilities: @autoclosure () -> TransportCapabilities) throws(TransportError) {
        guard connect != nil, !capabilities().contains(.connectDeadlines) else { return }
        throw TransportError(
            .unsupported,
            "This transport has no deadline for connecting: leave timeouts.connect unset, timeouts.firstByte includes it, or use another "
                + "one, such as CurlTransport with libcurl 7.80 or later.")
    }
}
