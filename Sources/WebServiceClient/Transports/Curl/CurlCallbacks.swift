import CSystemLibraries

/// What libcurl calls while it works, for who has the loop's turn, with the ``CurlHandle`` as its user's pointer: that never changes.
enum CurlCallbacks {
    /// The functions.
    static let all = csl_easy_callbacks(
        header: { bytes, size, count, user in
            let line = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard let user else { return 0 }
            // Once for each line: counting the reference would take as long as taking the line.
            let exchange = Unmanaged<CurlHandle>.fromOpaque(user)._withUnsafeGuaranteedRef { $0.exchange }
            return exchange?._withUnsafeGuaranteedRef { $0.receive(line: line) } == true ? line.count : 0
        },
        body: { bytes, size, count, user in
            let body = UnsafeRawBufferPointer(start: bytes, count: size * count)
            guard let exchange = CurlCallbacks.exchange(user) else { return 0 }
            // Where the head's lines come this way, too, each comes here first: see CurlLibrary.keepsFreedHeader.
            guard exchange.transfer.hasHead else { return exchange.accepts(line: body) ? body.count : 0 }
            return exchange.receive(body) ? body.count : Int(CSL_WRITE_PAUSE)
        },
        upload: { bytes, size, count, user in
            guard let exchange = CurlCallbacks.exchange(user) else { return Int(CSL_READ_ABORT) }
            return switch exchange.send(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count)) {
            case .bytes(let count): count
            case .wait: Int(CSL_READ_PAUSE)
            case .end: 0
            }
        },
        ready: { user, _, _, _, localPort in
            guard let exchange = CurlCallbacks.exchange(user) else { return 1 }
            exchange.transfer.localPort = localPort
            return exchange.transfer.loop?.mayGoOut(exchange) == true ? 0 : 1
        },
        connect: { user, _, address in
            CurlCallbacks.exchange(user)?.openSocket(to: address, owner: user) ?? -1
        },
        progress: { user, _, _, _, _ in
            guard let exchange = CurlCallbacks.exchange(user), let handle = exchange.transfer.handle else { return 0 }
            exchange.transfer.hasCloseNotify = csl_easy_has_close_notify(handle.easy)
            return 0
        })

    /// Those of a connection that carries no exchange, with the ``CurlConnection`` as their user's pointer.
    static let connecting = csl_easy_callbacks(
        header: { _, size, count, _ in size * count }, body: { _, size, count, _ in size * count },
        upload: { _, _, _, _ in Int(CSL_READ_ABORT) },
        ready: { user, _, _, _, _ in
            guard let user else { return 1 }
            return Unmanaged<CurlConnection>.fromOpaque(user).takeUnretainedValue().accepts() ? 0 : 1
        },
        connect: { user, _, address in
            guard let user else { return -1 }
            return Unmanaged<CurlConnection>.fromOpaque(user).takeUnretainedValue().openSocket(to: address)
        },
        progress: { _, _, _, _, _ in 0 })

    /// The exchange that a handle is used for.
    static func exchange(_ user: UnsafeMutableRawPointer?) -> CurlExchange? {
        user.flatMap { Unmanaged<CurlHandle>.fromOpaque($0)._withUnsafeGuaranteedRef { $0.exchange } }?.takeUnretainedValue()
    }
}
