#pragma once
// http/asio_context.h - what an AsioLoop gives to the sockets of this folder.

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>

#include "http/asio_loop.h"

namespace belay::http {

struct AsioLoop::Context {
  boost::asio::io_context io{1};  // one thread runs it; any may post
};

// With the executor named: no allocation and no indirection a handler.
using Socket =
    boost::asio::basic_stream_socket<boost::asio::ip::tcp, boost::asio::io_context::executor_type>;
using Acceptor = boost::asio::basic_socket_acceptor<boost::asio::ip::tcp,
                                                    boost::asio::io_context::executor_type>;

}  // namespace belay::http
