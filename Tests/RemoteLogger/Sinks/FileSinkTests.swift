import Foundation
import RemoteLogger
import TestSupport
import Testing
import WebServiceClient

@Suite struct FileSinkTests {
    private let clock = ManualLogClock()
    private static let file = URL(filePath: "/log/shop.log")

    private func sink(
        _ disk: MemoryDisk, _ rotation: FileRotation = FileRotation(), formatter: LineFormatter = LineFormatter { $0.message },
        limit: Int = 10_000
    ) -> FileSink {
        FileSink(Self.file, rotation: rotation, formatter: formatter, limit: limit, clock: clock, files: disk.files)
    }

    private func text(_ disk: MemoryDisk, _ suffix: String = "") -> String {
        String(decoding: disk["/log/shop.log" + suffix] ?? [], as: UTF8.self)
    }

    private func text(from pipe: Pipe) async throws -> String {
        let reader = pipe.fileHandleForReading
        return String(decoding: try await onOwnThread { try reader.readToEnd() ?? Data() }, as: UTF8.self)
    }

    @Test func `lines are appended, also by the next run`() async {
        let disk = MemoryDisk()
        for run in 0..<3 {
            let sink = sink(disk)
            sink.write(.sample(1, .info, "a\(run)\nforged"))
            sink.write(.sample(2, .info, "b\(run)"))
            #expect(await sink.shutdown(within: .seconds(300)))
            sink.write(.sample(3, .info, "late"))
            #expect(sink.leftOut == 1)
        }
        #expect(text(disk) == "a0\\nforged\nb0\na1\\nforged\nb1\na2\\nforged\nb2\n")
        #expect(disk.paths == ["/log/shop.log"])
    }

    @Test func `files are changed by size, and so many are kept`() async {
        let disk = MemoryDisk()
        let sink = sink(disk, FileRotation(bytes: 20, files: 2))
        for number in 10..<40 {
            sink.write(.sample(1, .info, "line \(number)"))
            if number % 4 == 0 { #expect(await sink.flush(within: .seconds(300))) }
        }
        #expect(await sink.flush(within: .seconds(300)))
        #expect(text(disk) == "line 38\nline 39\n")
        #expect(text(disk, ".1") == "line 36\nline 37\n" && text(disk, ".2") == "line 34\nline 35\n")
        #expect(disk.paths.count == 3)
        sink.write(.sample(1, .info, String(repeating: "x", count: 50)))
        sink.write(.sample(1, .info, "y"))
        #expect(await sink.flush(within: .seconds(300)))
        #expect(text(disk) == "y\n" && text(disk, ".1").count == 51)
    }

    @Test func `files are changed by the period`() async {
        let disk = MemoryDisk()
        let sink = sink(disk, .hourly(files: 3))
        for hour in 0..<6 {
            sink.write(.sample(1, .info, "hour \(hour)"))
            sink.write(.sample(1, .info, "again"))
            #expect(await sink.flush(within: .seconds(300)))
            clock.advance(by: .seconds(3_600))
        }
        #expect(text(disk) == "hour 5\nagain\n")
        #expect(text(disk, ".1") == "hour 4\nagain\n" && text(disk, ".3") == "hour 2\nagain\n" && disk.paths.count == 4)
    }

    @Test(arguments: ["write", "open", "fstat", "rename"]) func `what a failing disk costs is counted and told`(call: String) async {
        let disk = MemoryDisk()
        let sink = sink(disk, FileRotation(bytes: 40, files: 70))
        var written = 0
        for number in 100..<220 {
            if number == 140 { disk.faults.withLock { $0 = { name, _ in name == call ? 28 : nil } } }
            if number == 180 { disk.faults.withLock { $0 = { _, _ in nil } } }
            sink.write(.sample(1, .info, "line \(number)"))
            if number % 3 == 0 { _ = await sink.flush(within: .seconds(300)) }
            written += 1
        }
        #expect(await sink.flush(within: .seconds(300)))
        let lines = disk.paths.flatMap { String(decoding: disk[$0] ?? [], as: UTF8.self).split(separator: "\n") }
        #expect(lines.allSatisfy { $0.wholeMatch(of: /line \d\d\d|… \d+ records left out.*/) != nil })
        let told = lines.compactMap { $0.firstMatch(of: /… (\d+) records/).flatMap { Int($0.1) } }.reduce(0, +)
        #expect(lines.count { $0.hasPrefix("line") } + Int(sink.leftOut) == written)
        #expect(told == Int(sink.leftOut))
        if call != "fstat" { #expect(sink.leftOut > 0) }
    }

    @Test(.timeLimit(.minutes(5)), arguments: [.max, -1, 70_000] as [Int]) func `bounds that are changed later hold like others`(
        files: Int
    ) async {
        let disk = MemoryDisk()
        var rotation = FileRotation()
        (rotation.files, rotation.bytes, rotation.period) = (files, files < 0 ? .min : 1, files < 0 ? .seconds(-1) : nil)
        let sink = sink(disk, rotation)
        for number in 1...3 { sink.write(.sample(1, .info, "line \(number)")) }
        #expect(await sink.flush(within: .seconds(300)))
        #expect(text(disk) == "line 3\n" && text(disk, ".2") == (files < 0 ? "" : "line 1\n") && sink.leftOut == 0)
    }

    @Test func `a link leads to the file, which is changed where it is`() async throws {
        let folder = URL.temporaryDirectory.appending(path: "file-sink-\(UUID().uuidString)")
        let target = folder.appending(path: "data")
        try FileManager.default.createDirectory(at: target, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (link, second) = (folder.appending(path: "shop.log"), folder.appending(path: "second.log"))
        try FileManager.default.createSymbolicLink(atPath: second.path(), withDestinationPath: "data/real.log")
        try FileManager.default.createSymbolicLink(atPath: link.path(), withDestinationPath: second.path())
        let sink = FileSink(link, rotation: FileRotation(bytes: 10, files: 2), formatter: LineFormatter { $0.message })
        for number in 1...3 { sink.write(.sample(1, .info, "line \(number)")) }
        #expect(await sink.shutdown(within: .seconds(300)))
        #expect(sink.leftOut == 0)
        #expect(try String(contentsOf: target.appending(path: "real.log"), encoding: .utf8) == "line 3\n")
        #expect(try String(contentsOf: target.appending(path: "real.log.2"), encoding: .utf8) == "line 1\n")
        #expect(Set(try FileManager.default.contentsOfDirectory(atPath: folder.path())) == ["data", "shop.log", "second.log"])
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: link.path()) == second.path())
    }

    @Test(arguments: [false, true]) func `what is no file gets the lines, and is never renamed`(isLinked: Bool) async throws {
        let folder = URL.temporaryDirectory.appending(path: "file-sink-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let pipe = Pipe()
        var file = URL(filePath: "/dev/fd/\(pipe.fileHandleForWriting.fileDescriptor)")
        if isLinked {
            let link = folder.appending(path: "shop.log")
            try FileManager.default.createSymbolicLink(atPath: link.path(), withDestinationPath: file.path())
            file = link
        }
        let sink = FileSink(file, rotation: FileRotation(bytes: 10, files: 2), formatter: LineFormatter { $0.message })
        for number in 1...3 { sink.write(.sample(1, .info, "line \(number)")) }
        #expect(await sink.shutdown(within: .seconds(300)))
        try pipe.fileHandleForWriting.close()
        #expect(try await text(from: pipe) == "line 1\nline 2\nline 3\n")
        #expect(sink.leftOut == 0)
    }

    #if os(Linux)
    @Test func `a descriptor of another process gets the lines`() async throws {
        let (input, output) = (Pipe(), Pipe())
        let reader = try RunningProcess(["cat"], input: input.fileHandleForReading, output: output.fileHandleForWriting)
        let sink = FileSink(URL(filePath: "/proc/\(reader.identifier)/fd/0"), formatter: LineFormatter { $0.message })
        for number in 1...3 { sink.write(.sample(1, .info, "line \(number)")) }
        #expect(await sink.shutdown(within: .seconds(300)))
        try input.fileHandleForWriting.close()
        #expect(try await reader.end() == 0)
        try output.fileHandleForWriting.close()
        #expect(try await text(from: output) == "line 1\nline 2\nline 3\n")
        #expect(sink.leftOut == 0)
    }
    #endif

    @Test func `a pipe that doesn't block is waited for`() async throws {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK) == 0)
        let sink = FileSink(URL(filePath: "/dev/fd/\(descriptor)"), formatter: LineFormatter { $0.message })
        // More than the capacity of a pipe.
        let text = String(repeating: "x", count: 1_000)
        for _ in 0..<500 { sink.write(.sample(1, .info, text)) }
        let reader = pipe.fileHandleForReading
        async let read = onOwnThread { try reader.readToEnd()?.count }
        // The reader starts when other tests allow it.
        #expect(await sink.shutdown(within: .seconds(1_200)))
        try pipe.fileHandleForWriting.close()
        #expect(try await read == 500 * 1_001)
        #expect(sink.leftOut == 0)
    }

    @Test func `a pipe that nobody reads is a fault, and doesn't end the process`() async throws {
        let pipe = Pipe()
        let sink = FileSink(URL(filePath: "/dev/fd/\(pipe.fileHandleForWriting.fileDescriptor)"))
        try pipe.fileHandleForReading.close()
        sink.write(.sample())
        _ = await sink.shutdown(within: .seconds(300))
        #expect(sink.leftOut == 1)
        try pipe.fileHandleForWriting.close()
    }

    @Test func `a link that leads nowhere, or to itself, is told`() async throws {
        let folder = URL.temporaryDirectory.appending(path: "file-sink-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let link = folder.appending(path: "shop.log")
        for target in ["none/shop.log", "shop.log"] {
            try? FileManager.default.removeItem(at: link)
            try FileManager.default.createSymbolicLink(atPath: link.path(), withDestinationPath: target)
            let events = Locked<[Diagnostics.Event]>([])
            let sink = FileSink(link, diagnostics: Diagnostics { event in events.withLock { $0.append(event) } })
            for _ in 0..<3 {
                sink.write(.sample())
                _ = await sink.flush(within: .seconds(300))
            }
            let told = events.withLock { $0 }
            #expect(told.map(\.level) == [.warning] && told.first?.message.contains("shop.log") == true && sink.leftOut == 3)
        }
    }

    @Test func `that the disk fails, and works again, is told once`() async {
        let disk = MemoryDisk()
        let events = Locked<[Diagnostics.Event]>([])
        let sink = FileSink(
            Self.file, rotation: FileRotation(), clock: clock, diagnostics: Diagnostics { event in events.withLock { $0.append(event) } },
            files: disk.files)
        for round in 0..<3 {
            disk.faults.withLock { $0 = { call, _ in call == "write" ? 28 : nil } }
            for _ in 0..<3 {
                sink.write(.sample())
                _ = await sink.flush(within: .seconds(300))
            }
            disk.faults.withLock { $0 = { _, _ in nil } }
            sink.write(.sample())
            #expect(await sink.flush(within: .seconds(300)))
            #expect(events.withLock { $0.map(\.level) } == Array(repeating: [.warning, .notice], count: round + 1).flatMap { $0 })
        }
    }

    @Test func `a file of the system is written and changed`() async throws {
        let folder = URL.temporaryDirectory.appending(path: "file-sink-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "shop.log")
        let sink = FileSink(file, minimumLevel: .info, rotation: FileRotation(bytes: 2_000, files: 3), formatter: .ndjson)
        let logger = RemoteLogger(label: "shop", sinks: [sink.filtered { $0.label == "shop" }], minimumLevel: .trace)
        for number in 0..<40 {
            logger.info("m \(number)", ["password": "hunter22"])
            logger.debug("no")
            logger.with(label: "other").error("no")
        }
        #expect(await logger.shutdown(within: .seconds(300)))
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.path())) == [
                "shop.log", "shop.log.1", "shop.log.2", "shop.log.3",
            ])
        let last = try String(contentsOf: file, encoding: .utf8)
        #expect(NDJSONLine.lines(of: Data(last.utf8)).last?.message == "m 39")
        #expect(!last.contains("hunter22"))
        #expect(last.utf8.count <= 2_000)
    }
}
