import Foundation

/// An entry of a symbol table of 64-bit Mach-O files (`nlist_64`).
struct MachOSymbol {
    var name: UInt32 = 0
    var type: UInt8 = 0
    var section: UInt8 = 0
    var detail: UInt16 = 0
    var value: UInt64 = 0

    /// Whether the symbol is defined in the file: it belongs to a section, and isn't an entry for a debugger.
    var isDefined: Bool { type & 0xE0 == 0 && type & 0x0E == 0x0E }
}

// Reads the load commands of 64-bit Mach-O files.
extension ObjectFile {
    mutating func readMachO(_ reader: ByteReader) throws(ObjectFileError) {
        guard let machine = reader.integer(UInt32.self, at: 4), let type = reader.integer(UInt32.self, at: 12),
            let count = reader.integer(UInt32.self, at: 16)
        else { throw ObjectFileError("its Mach-O header is cut off") }
        isMachO = true
        processor = machine == 0x0100_0007 ? .x86 : machine == 0x0100_000C ? .arm : .other
        isProgram = type == 2
        var place = 32
        var localCount: UInt32?
        for _ in 0..<count {
            guard let command = reader.integer(UInt32.self, at: place), let size = reader.offset(UInt32.self, at: place + 4), size >= 8,
                reader.range(from: place, count: size) != nil
            else { throw ObjectFileError("its load commands are cut off") }
            switch command {
            case 0x19: try readSegment(reader, at: place, size)
            case 0x02: try readSymbols(reader, at: place, size)
            case 0x0B where size >= 16: localCount = reader.integer(UInt32.self, at: place + 12)
            default: break
            }
            place += size
        }
        // A stripped file keeps the table, without its local symbols.
        if localCount == 0 { tables = tables.map { SymbolTable(entries: $0.entries, names: $0.names, isFull: false) } }
    }

    /// Reads an `LC_SEGMENT_64` with its sections.
    private mutating func readSegment(_ reader: ByteReader, at place: Int, _ size: Int) throws(ObjectFileError) {
        guard size >= 72, let address = reader.integer(UInt64.self, at: place + 24),
            let offset = reader.integer(UInt64.self, at: place + 40), let fileSize = reader.integer(UInt64.self, at: place + 48),
            let count = reader.integer(UInt32.self, at: place + 64),
            Int(count) <= (size - 72) / 80
        else { throw ObjectFileError("one of its segments is cut off") }
        if offset == 0, fileSize > 0 { baseAddress = address }
        for index in 0..<Int(count) {
            let section = place + 72 + index * 80
            guard let address = reader.integer(UInt64.self, at: section + 32), let length = reader.integer(UInt64.self, at: section + 40),
                let start = reader.integer(UInt32.self, at: section + 48), let flags = reader.integer(UInt32.self, at: section + 64)
            else { throw ObjectFileError("one of its sections is cut off") }
            // Sections that are initialized with zeros have no bytes in the file.
            let kind = flags & 0xFF
            if start == 0 || kind == 1 || kind == 12 || kind == 18 { continue }
            guard let bytes = Int(exactly: length), let range = reader.range(from: Int(start), count: bytes) else {
                throw ObjectFileError("one of its sections is beyond its end")
            }
            // Either of the two attributes marks instructions.
            sections.append(Section(address: address, bytes: range, isCode: flags & 0x8000_0400 != 0))
        }
    }

    /// Reads an `LC_SYMTAB`.
    private mutating func readSymbols(_ reader: ByteReader, at place: Int, _ size: Int) throws(ObjectFileError) {
        guard size >= 24, let start = reader.offset(UInt32.self, at: place + 8), let count = reader.integer(UInt32.self, at: place + 12),
            let names = reader.offset(UInt32.self, at: place + 16), let length = reader.offset(UInt32.self, at: place + 20),
            let entries = reader.range(from: start, count: Int(count) * MemoryLayout<MachOSymbol>.size),
            let texts = reader.range(from: names, count: length)
        else { throw ObjectFileError("its symbol table is beyond its end") }
        tables.append(SymbolTable(entries: entries, names: texts, isFull: true))
    }

    /// Returns the part of a universal file for this machine's processor, or the whole file if it isn't universal.
    static func ownArchitecture(of data: Data) -> Data {
        let reader = ByteReader(data)
        guard let magic = reader.integer(UInt32.self, at: 0)?.bigEndian, magic == 0xCAFE_BABE,
            let count = reader.integer(UInt32.self, at: 4)?.bigEndian, count <= 64
        else { return data }
        #if arch(arm64)
        let own: UInt32 = 0x0100_000C
        #else
        let own: UInt32 = 0x0100_0007
        #endif
        for index in 0..<Int(count) {
            let place = 8 + index * 20
            guard reader.integer(UInt32.self, at: place)?.bigEndian == own,
                let start = reader.integer(UInt32.self, at: place + 8)?.bigEndian,
                let size = reader.integer(UInt32.self, at: place + 12)?.bigEndian,
                let range = reader.range(from: Int(start), count: Int(size))
            else { continue }
            return data.subdata(in: range)
        }
        return data
    }
}
