import Foundation

#if canImport(Darwin)
import MachO
#endif

/// A file whose code this process has loaded.
struct LoadedFile {
    let path: String
    /// The difference between the addresses in memory and those in the file.
    let bias: UInt64
    let file: ObjectFile

    /// Returns whether an address in memory belongs to the file's data.
    func contains(_ address: UInt) -> Bool {
        file.place(of: UInt64(address) &- bias, count: 1) != nil
    }

    /// Returns the files of this process, and the reasons why others can't be read. Libraries without a separate file, such as those of
    /// Apple's systems, aren't included.
    static func all() -> (files: [LoadedFile], problems: [String]) {
        var files: [LoadedFile] = []
        var problems: [String] = []
        for (path, place) in places() {
            do {
                // Mapped instead of read: the symbols are a small part of a large file.
                let data = try Data(contentsOf: URL(fileURLWithPath: path), options: .alwaysMapped)
                let file = try ObjectFile(ObjectFile.ownArchitecture(of: data))
                files.append(LoadedFile(path: path, bias: place.bias(of: file), file: file))
            } catch let error as ObjectFileError {
                problems.append("\(path) can't be read: \(error)")
            } catch {
                problems.append("\(path) can't be opened")
            }
        }
        return (files, problems + replacedFiles())
    }

    /// The location of a file in memory.
    private enum Place {
        case slide(UInt64)
        case start(UInt64)

        func bias(of file: ObjectFile) -> UInt64 {
            switch self {
            case .slide(let slide): slide
            case .start(let start): start &- file.baseAddress
            }
        }
    }

    #if canImport(Darwin)
    private static func places() -> [(path: String, place: Place)] {
        (0..<_dyld_image_count()).compactMap { index in
            guard let name = _dyld_get_image_name(index) else { return nil }
            let path = String(cString: name)
            // The system's libraries are in a shared cache, and don't extend classes of a program.
            guard FileManager.default.fileExists(atPath: path) else { return nil }
            return (path, .slide(UInt64(bitPattern: Int64(_dyld_get_image_vmaddr_slide(index)))))
        }
    }

    private static func replacedFiles() -> [String] { [] }
    #else
    /// A line of the kernel's list of mappings (proc_pid_maps(5)).
    private struct Mapping {
        let start: UInt64
        let offset: UInt64
        let isCode: Bool
        let node: UInt64
        let path: String

        init?(_ line: Substring) {
            // "55e0-55f0 r-xp 00001000 08:01 1234    /usr/bin/program": the path may have blanks.
            let fields = line.split(separator: " ", maxSplits: 5, omittingEmptySubsequences: true)
            guard fields.count == 6, let start = fields[0].split(separator: "-").first.flatMap({ UInt64($0, radix: 16) }),
                let offset = UInt64(fields[2], radix: 16), let node = UInt64(fields[4])
            else { return nil }
            let path = fields[5].drop { $0 == " " }
            guard path.hasPrefix("/") else { return nil }
            (self.start, self.offset, self.node, self.path) = (start, offset, node, String(path))
            isCode = fields[1].contains("x")
        }
    }

    private static func mappings() -> [Mapping] {
        // A file handle reads up to the end. FileManager stops at a page, since the file's size is 0.
        guard let handle = FileHandle(forReadingAtPath: "/proc/self/maps"), let data = try? handle.readToEnd() else { return [] }
        return String(decoding: data, as: UTF8.self).split(separator: "\n").compactMap { Mapping($0) }
    }

    private static let deletion = " (deleted)"

    private static func places() -> [(path: String, place: Place)] {
        var starts: [String: UInt64] = [:]
        var paths: [String] = []
        for mapping in mappings() where !mapping.path.hasSuffix(deletion) {
            if mapping.offset == 0, starts[mapping.path] == nil { starts[mapping.path] = mapping.start }
            if mapping.isCode, !paths.contains(mapping.path) { paths.append(mapping.path) }
        }
        return paths.compactMap { path in starts[path].map { (path, .start($0)) } }
    }

    /// A file that was replaced after it was loaded has other symbols than the process.
    private static func replacedFiles() -> [String] {
        Set(mappings().filter { $0.isCode && $0.path.hasSuffix(deletion) }.map(\.path)).sorted().map {
            "\($0.dropLast(deletion.count)) was replaced while the process runs"
        }
    }
    #endif
}
