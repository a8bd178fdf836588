import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// The hook belongs to the process: tests run one at a time.
@Suite(.serialized) struct ExitHookTests {
    @Test func `at exit everything is delivered, or the limit ends it`() async throws {
        let receiver = StubReceiver()
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { $0.compression = .none }
        let stuck = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: StubReceiver([.hangs]))
        let logger = RemoteLogger(label: "test", sinks: [shipper])
        let hung = RemoteLogger(label: "test", sinks: [stuck])
        logger.pipeline.shutdownAtExit(within: .seconds(60))
        hung.pipeline.shutdownAtExit(within: .milliseconds(100))
        logger.info("last words")
        hung.info("never")
        try await onOwnThread { ExitHook.run() }
        #expect(shipper.statistics.delivered == 1)
        #expect(stuck.statistics.dropped == [.shutdown: 1])
        // A second run does nothing.
        try await onOwnThread { ExitHook.run() }
    }

    @Test func `a pipeline that nobody else holds is held until it is shut down`() async throws {
        let receiver = StubReceiver()
        for _ in 0..<1_000 {
            weak var pipeline: LogPipeline?
            weak var shipper: LogShipper?
            do {
                let logger = try logger(to: receiver)
                logger.pipeline.shutdownAtExit(within: .seconds(60))
                logger.pipeline.shutdownAtExit(within: .seconds(30))
                (pipeline, shipper) = (logger.pipeline, logger.pipeline.sinks.first as? LogShipper)
            }
            #expect(pipeline != nil && shipper != nil)
            await pipeline?.shutdown(within: .seconds(60))
            #expect(pipeline == nil && shipper == nil)
        }
    }

    @Test func `a pipeline that is shut down is never held`() async throws {
        weak var pipeline: LogPipeline?
        do {
            let logger = try logger(to: StubReceiver())
            pipeline = logger.pipeline
            await logger.shutdown(within: .seconds(60))
            logger.pipeline.shutdownAtExit(within: .seconds(60))
        }
        #expect(pipeline == nil)
    }

    private func logger(to receiver: any Transport) throws -> RemoteLogger {
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { $0.compression = .none }
        return RemoteLogger(label: "test", sinks: [shipper])
    }

    #if compiler(>=6.3) && (os(Linux) || os(macOS))
    @Test func `at the exit of a process, what a function's own logger had is delivered`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "exit-\(UUID().uuidString)").path(percentEncoded: false)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await ExitTesting.alone {
            await #expect(processExitsWith: .exitCode(7)) { [folder = folder as String] in
                ExitTesting.endLater()
                try ExitingProcess.log(to: FileReceiver(folder + "/delivered"), spool: nil)
                await ExitingProcess.end()
            }
        }
        #expect(NDJSONLine.lines(of: try Data(contentsOf: URL(filePath: folder + "/delivered"))).count == 100)
    }

    @Test func `at the exit of a process, what a function's own logger had is in its spool`() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "exit-\(UUID().uuidString)").path(percentEncoded: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        await ExitTesting.alone {
            await #expect(processExitsWith: .exitCode(7)) { [folder = folder as String] in
                ExitTesting.endLater()
                try ExitingProcess.log(to: StubReceiver([.hangs]), spool: folder, within: .seconds(3))
                await ExitingProcess.end()
            }
        }
        let spool = Spool(directory: URL(filePath: folder))
        #expect(spool.store(for: "default", minimumLevel: .trace)?.load.records == 100)
    }
    #endif
}

/// The work of the child process.
private enum ExitingProcess {
    /// Logs a hundred records to a logger that has no references after this returns.
    static func log(to receiver: any Transport, spool folder: String?, within limit: Duration = .seconds(60)) throws {
        let shipper = try LogShipper(to: Harness.endpoint(), format: NDJSONFormat(), transport: receiver) { settings in
            settings.compression = .none
            settings.spool = folder.map { Spool(directory: URL(filePath: $0)) }
        }
        let logger = RemoteLogger(label: "test", sinks: [shipper])
        logger.pipeline.shutdownAtExit(within: limit)
        for number in 0..<100 { logger.info("record \(number)") }
    }

    /// Ends the process by `exit`, from a thread outside the task pool, which the exit hook needs.
    static func end() async {
        Thread.detachNewThread { exit(7) }
        await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in }
    }
}

/// Appends request bodies to a file.
private struct FileReceiver: Transport {
    let capabilities: TransportCapabilities = []
    private let path: String

    init(_ path: String) {
        self.path = path
    }

    func send(_ request: ServiceRequest) async throws -> TransportResponse {
        let before = (try? Data(contentsOf: URL(filePath: path))) ?? Data()
        try (before + (request.body?.data ?? Data())).write(to: URL(filePath: path))
        return TransportResponse(status: 200, headers: [:], url: request.url, body: ResponseBody(Data()))
    }
}
