import Foundation
import WebServiceClient
import WebServiceTesting

/// Response bodies as streams.
enum DownloadCases {
    static let all = [
        ConformanceCase("downloads/pieces", "The head arrives before the body, and each piece as soon as it is sent.", run: pieces),
        ConformanceCase(
            "downloads/back-pressure", "A reader that pauses stops the server, and then gets every byte.", needing: .backPressure,
            run: backPressure),
        ConformanceCase(
            "downloads/patience", "A reader that pauses doesn't trigger the idle timeout.", needing: .backPressure, run: patience),
        ConformanceCase("downloads/dropped", "Dropping the body ends the transfer and its connection.", run: dropped),
        ConformanceCase("downloads/dropped-pouring", "Dropping a body that arrives without pauses ends it, too.", run: droppedPouring),
        ConformanceCase("downloads/cancelled", "Cancelling the body ends the transfer, and further reading is an error.", run: cancelled),
        ConformanceCase("downloads/progress", "Progress rises to the total while the body is read.", run: progress),
        ConformanceCase("downloads/unread", "Bodies that are dropped unread don't affect later responses.", run: unread),
        ConformanceCase("downloads/after-the-end", "Reading past the end returns the end again.", run: afterEnd),
        ConformanceCase("downloads/large", "32 MB arrive unchanged.", run: large),
    ]

    @Sendable private static func pieces(_ subject: ConformanceSubject) async throws {
        let released = Locked(0)
        let script = LoopbackResponse.script { wire in
            try wire.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
            for (index, piece) in ["one", "two", "three"].enumerated() {
                try wire.wait { released.withLock { $0 } > index }
                try wire.write("\(String(piece.utf8.count, radix: 16))\r\n\(piece)\r\n")
            }
            try wire.write("0\r\n\r\n")
        }
        try await answering(with: script) { server in
            let response = try await subject.transport.send(try server.request())
            var iterator = response.body.makeAsyncIterator()
            for piece in ["one", "two", "three"] {
                released.withLock { $0 += 1 }
                var found = Data()
                while found.count < piece.utf8.count, let part = try await iterator.next() { found.append(part) }
                try demand(found, is: Data(piece.utf8), "The piece")
            }
            try demand(try await iterator.next(), is: nil, "After the last piece")
        }
    }

    @Sendable private static func backPressure(_ subject: ConformanceSubject) async throws {
        let (offered, taken) = (64 << 20, Locked(0))
        let part = ConformanceBytes.make(1 << 16)
        let script = LoopbackResponse.script { wire in
            try wire.write("HTTP/1.1 200 OK\r\nContent-Length: \(offered)\r\n\r\n")
            for _ in 0..<(offered / part.count) {
                try wire.write(part)
                taken.withLock { $0 += part.count }
            }
        }
        try await answering(with: script) { server in
            let response = try await subject.transport.send(try server.request())
            var iterator = response.body.makeAsyncIterator()
            var (position, isRight) = (0, true)
            func take(_ bytes: Data) {
                for byte in stride(from: 0, to: bytes.count, by: 997) where isRight {
                    isRight = bytes[bytes.startIndex + byte] == part[(position + byte) % part.count]
                }
                position += bytes.count
            }
            while position < 1 << 20, let bytes = try await iterator.next() { take(bytes) }
            // The server is blocked once its count stops rising; a transport without back pressure reads everything.
            var last = -1
            while case let now = taken.withLock({ $0 }), now != last, now < offered {
                last = now
                try await Task.sleep(for: .milliseconds(200))
            }
            // The socket buffers of both sides hold some megabytes. A transport that has read everything may deliver it all at once.
            let whole = taken.withLock { $0 }
            try demand(
                whole <= 24 << 20,
                "The server sent \(whole) bytes, and the reader wanted a million: expected it to be blocked earlier")
            while let bytes = try await iterator.next() { take(bytes) }
            try demand(position, is: offered, "The bytes that arrived in the end")
            try demand(isRight, "What arrived isn't what was sent")
        }
    }

    @Sendable private static func patience(_ subject: ConformanceSubject) async throws {
        let count = 40 << 20
        try await patiently { time in
            try await answering(with: .generated(count: count)) { server in
                var request = try server.request()
                request.timeouts.idle = time
                let response = try await subject.transport.send(request)
                var iterator = response.body.makeAsyncIterator()
                var received = try await iterator.next()?.count ?? 0
                try demand(received <= 24 << 20, "The first piece has \(received) bytes: the reader wanted one, not most of the body")
                try await Task.sleep(for: time * 2)
                while let bytes = try await iterator.next() { received += bytes.count }
                try demand(received, is: count, "The bytes that arrived")
            }
        }
    }

    @Sendable private static func dropped(_ subject: ConformanceSubject) async throws {
        try await drop(.drip(Data("x".utf8), every: .milliseconds(5)), subject)
    }

    @Sendable private static func droppedPouring(_ subject: ConformanceSubject) async throws {
        let part = ConformanceBytes.make(1 << 16)
        let script = LoopbackResponse.script { wire in
            try wire.write("HTTP/1.1 200 OK\r\n\r\n")
            while true { try wire.write(part) }
        }
        try await drop(script, subject)
    }

    /// Drops the body of a response unread, then the body of another one after reading a piece.
    private static func drop(_ response: LoopbackResponse, _ subject: ConformanceSubject) async throws {
        try await answering(with: response) { server in
            _ = try await subject.transport.send(try server.request())
            try await server.waitForOpenConnections(atMost: 0)
            do {
                let half = try await subject.transport.send(try server.request())
                for try await _ in half.body { break }
            } catch let error as TransportError where error.code == .readerTooSlow {
                // Without back pressure, the buffer may fill on a busy machine before the reader runs.
                if subject.transport.capabilities.contains(.backPressure) { throw error }
            }
            try await server.waitForOpenConnections(atMost: 0)
        }
    }

    @Sendable private static func cancelled(_ subject: ConformanceSubject) async throws {
        try await answering(with: .drip(Data("x".utf8), every: .milliseconds(5))) { server in
            let response = try await subject.transport.send(try server.request())
            response.body.cancel()
            response.body.cancel()
            try await server.waitForOpenConnections(atMost: 0)
            let ending = await ConformanceEnding.of { for try await _ in response.body {} }
            try demand(ending != .answered, "Reading a cancelled body: expected an error, found its end")
        }
    }

    @Sendable private static func progress(_ subject: ConformanceSubject) async throws {
        let count = 3 << 20
        for framing in [LoopbackResponse.Framing.automatic, .chunked] {
            try await answering(with: .generated(count: count).framed(framing)) { server in
                let seen = Locked<[TransferProgress]>([])
                var request = try server.request()
                request.downloadProgress = { progress in seen.withLock { $0.append(progress) } }
                _ = try await subject.exchange(request)
                let progress = seen.withLock { $0 }
                let whole = TransferProgress(completed: Int64(count), total: Int64(count))
                try demand(progress.last, is: whole, "The last progress, \(framing)")
                let isRising = zip(progress, progress.dropFirst()).allSatisfy { $0.completed <= $1.completed }
                try demand(isRising, "Expected rising numbers, found \(progress.map(\.completed))")
            }
        }
    }

    @Sendable private static func unread(_ subject: ConformanceSubject) async throws {
        try await serving({ routes in
            routes.get("/small") { _ in .text("small and unread") }
            routes.get("/chunks") { _ in .pieces([.init("unread")]) }
            routes.get("/ok") { _ in .text("ok") }
        }) { server in
            for target in ["/small", "/chunks", "/small", "/chunks"] {
                _ = try await subject.transport.send(try server.request(.get, target))
                try await subject.expect(200, "ok", for: try server.request(.get, "/ok"), "After \(target)")
            }
        }
    }

    @Sendable private static func afterEnd(_ subject: ConformanceSubject) async throws {
        try await answering(with: .text("ok")) { server in
            let response = try await subject.transport.send(try server.request())
            var iterator = response.body.makeAsyncIterator()
            while try await iterator.next() != nil {}
            for _ in 0..<3 { try demand(try await iterator.next(), is: nil, "Beyond the end") }
            response.body.cancel()
            var second = response.body.makeAsyncIterator()
            _ = try? await second.next()
        }
    }

    @Sendable private static func large(_ subject: ConformanceSubject) async throws {
        let count = 32 << 20
        try await answering(with: .generated(count: count)) { server in
            let response = try await subject.transport.send(try server.request())
            var (position, isRight) = (0, true)
            for try await bytes in response.body {
                for byte in stride(from: 0, to: bytes.count, by: 101) where isRight {
                    isRight = bytes[bytes.startIndex + byte] == LoopbackResponse.Body.generatedByte(at: position + byte)
                }
                position += bytes.count
            }
            try demand(position, is: count, "The bytes that arrived")
            try demand(isRight, "What arrived isn't what was sent")
        }
    }
}
